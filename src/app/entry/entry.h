// SPDX-License-Identifier: Apache-2.0
//
// Between the functions that programs call (linux/entry_points.cc, compiled once) and the layer, which
// exists once for each calling convention of COM methods. Objects are untyped here: the two sets of
// declarations of Direct3D 12 cannot meet in one file.
#ifndef CAIRN_APP_ENTRY_ENTRY_H_
#define CAIRN_APP_ENTRY_ENTRY_H_

#include <cstdint>

namespace cairn {

// A GUID, whatever header declares it.
struct EntryGuid {
  uint32_t data1;
  uint16_t data2;
  uint16_t data3;
  uint8_t data4[8];
};

// The layer of one calling convention (layer.h). HRESULTs are int32_t.
struct EntryBridge {
  // The interface that devices are to be created with.
  const EntryGuid* device_iid;
  // Takes over the reference on `real`, a device of this convention, and gives the caller interface
  // `iid` of its wrapper. `wchar_bytes`: the size of a character in names of its objects.
  // `application`: its name, "" if it is not known. `feature_level`: what was asked for, or 0.
  int32_t (*wrap_device)(void* real, uint32_t wchar_bytes, const char* application,
                         uint32_t feature_level, const EntryGuid& iid, void** device);
  // The real object behind a wrapper of this convention; any other pointer as it is, null too.
  void* (*real_object)(void* object);
  // Takes over the reference on `real`, an image that was made a resource of `device`, and returns
  // its wrapper. The states are D3D12_RESOURCE_STATES: at first, and when it is presented.
  void* (*wrap_resource)(void* device, void* real, uint32_t initial_state, uint32_t present_state);
  // Private references of libvkd3d. False if `resource` is no wrapper.
  bool (*hold_resource)(void* resource, uint32_t* count);
  bool (*drop_resource)(void* resource, uint32_t* count);
  // vkd3d_queue_signal_on_cpu: calls `next` with real objects.
  int32_t (*signal_on_cpu)(void* queue, void* fence, uint64_t value,
                           int32_t (*next)(void* queue, void* fence, uint64_t value));
  // The program takes the queue behind `queue`, a wrapper of this convention or not, to present.
  void (*before_present)(void* queue);
  // This thread holds a native queue from now on, or no longer: it can submit nothing meanwhile.
  void (*holds_queue)(bool holds);
  // A frame was presented: the next one begins on every device.
  void (*end_frame)();
};

const EntryBridge& MsBridge();    // libvkd3d
const EntryBridge& SysvBridge();  // a native vkd3d-proton

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_ENTRY_H_
