// SPDX-License-Identifier: Apache-2.0
//
// The driver half on Linux, where every Direct3D 12 implementation stands on Vulkan: the Vulkan layer
// plays the driver for the Direct3D 12 backend. Both are in one library and meet here, without a header
// of either API (docs/reference/driver-half.md). Under Wine they are in two, one for each system (os/linux_half.h): what
// is here lies in memory as both systems' compilers have it, and the Direct3D 12 backend calls across.
//
//   DeviceCreationScope   the Vulkan device made on this thread belongs to a Direct3D 12 device
//   LabelledDeviceScope   the Vulkan device made on this thread belongs to a Direct3D 11 device, and is told of
//                         its work by labels
//   DeviceSeenScope       the Vulkan device that the calls of this thread reach
//   ExpectedBufferScope   the buffer made on this thread is ours: its VkBuffer becomes known, and its
//                         memory becomes an import of pages that the caller names
//   ListOpenScope         the command buffer begun on this thread is where a Direct3D list records
//   RawMarkerScope        the Vulkan device made on this thread takes raw markers from within its command buffers
//   PipelineCodeScope     a shader module made on this thread is a translation of the code of a Direct3D pipeline
//   DriverHalf            records writes into such a command buffer, to such a buffer
//
// Nothing here is needed: without the layer scopes see nothing, and GetDriverHalf() is null.
//
// Threads: scopes belong to the thread that makes them, live on its stack and nest; the innermost one of
// a kind is what the layer looks at. DriverHalf may be called from any thread, each list by one at a
// time, as the list itself.
#ifndef CAIRN_APP_BREADCRUMBS_DRIVER_HALF_H_
#define CAIRN_APP_BREADCRUMBS_DRIVER_HALF_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "app/breadcrumbs/backend.h"
#include "format/block/block.h"
#include "os/linux_half.h"

namespace cairn {

// A VkBuffer as the layer saw it created. Valid for as long as the Direct3D resource behind it.
struct DriverBuffer {
  const void* device = nullptr;  // the layer's own
  uint64_t buffer = 0;

  bool known() const { return device != nullptr; }
};

// A recording of a VkCommandBuffer. It may end, or its command buffer may be freed, without notice
// to the holder of this object: Write() refuses then.
struct DriverList {
  void* commands = nullptr;
  uint64_t recording = 0;  // differs from every other one of any command buffer; never 0

  bool known() const { return commands != nullptr; }
};

enum class DriverWrite {
  kRecorded,
  // Only by kDriverFillBuffer: outside render passes it could be.
  kInsideRenderPass,
  // The recording has ended, or is of another device. It stays so.
  kRefused,
};

// A SourceFinding without memory of its own; longer texts are cut.
struct DriverFinding {
  std::array<char, 64> name{};
  std::array<char, 448> reason{};
  SourceState state = SourceState::kAbsent;
};

class DriverHalf {
 public:
  // Returns "" if the method can be tried on the buffer's device, else the reason why not. `method`
  // is kDriverBufferMarker or kDriverFillBuffer. Not on the hot path.
  CAIRN_LINUX_CALL virtual const char* WhyNot(const DriverBuffer& buffer,
                                              WriteMethod method) const = 0;

  // Records one write of `value` at `offset_bytes`, a multiple of 4, straight into the command buffer:
  // no render pass ends. Nothing else than kRecorded leaves anything behind. The hot path: no lock, no
  // allocation; three dependent loads, and the driver's own call.
  CAIRN_LINUX_CALL virtual DriverWrite Write(const DriverList& list, const DriverBuffer& buffer,
                                             WriteMethod method, PipeLocation where,
                                             uint64_t offset_bytes, uint32_t value) = 0;

  // Returns the work of the list's queue that has finished when the GPU gets past this point
  // (kEventDrains...): by the barriers that were recorded below, if no other command follows them.
  // 0 for lists that Write() refuses, and where writes of `method` are no witnesses. The hot path,
  // like Write().
  CAIRN_LINUX_CALL virtual uint8_t Drains(const DriverList& list, WriteMethod method) const = 0;
  // For reports: returns the measurement of barriers on `device` (of a DeviceSeenScope), for writes
  // of `method`.
  SourceFinding WitnessSource(const void* device, WriteMethod method) const;
  // Returns true if `device` (of a DeviceSeenScope) is in mode exact.
  CAIRN_LINUX_CALL virtual bool Serialises(const void* device) const = 0;
  // Mode exact: whether a full barrier stands behind all work that the recording has so far.
  CAIRN_LINUX_CALL virtual bool Serial(const DriverList& list) const = 0;

  // The progress words of a context lie at `words` in the block: when `device` (of a DeviceSeenScope, it
  // still exists) is lost, what the driver knows goes to this context, and to all others that were noted.
  // False without memory.
  CAIRN_LINUX_CALL virtual bool NoteWords(const void* device, const std::byte* words) = 0;
  CAIRN_LINUX_CALL virtual void ForgetWords(const void* device, const std::byte* words) = 0;

  // For reports: the state of asking the driver of `device` (of a DeviceSeenScope) for faults after
  // a loss, and the reason if it is not asked.
  SourceFinding LossSource(const void* device) const;

 protected:
  DriverHalf() = default;
  ~DriverHalf() = default;

 private:
  CAIRN_LINUX_CALL virtual void DescribeWitnesses(const void* device, WriteMethod method,
                                                  DriverFinding* finding) const = 0;
  CAIRN_LINUX_CALL virtual void DescribeLoss(const void* device, DriverFinding* finding) const = 0;
};

DriverFinding DriverFindingOf(const SourceFinding& source);

// Null until the layer has seen a device for Direct3D.
DriverHalf* GetDriverHalf();
// `half` lives until the process ends.
void SetDriverHalf(DriverHalf* half);

// Around the implementation's creation of a Direct3D 12 device.
class DeviceCreationScope {
 public:
  DeviceCreationScope();
  ~DeviceCreationScope();
  DeviceCreationScope(const DeviceCreationScope&) = delete;
  DeviceCreationScope& operator=(const DeviceCreationScope&) = delete;

  // Returns true inside a scope of this thread.
  static bool Active();
  // Returns true if the layer drives a Vulkan device that was made since.
  bool seen() const;

  // For the layer.
  static void Note();

 private:
  const uint32_t before_;
};

// Around the implementation's creation of a Direct3D 11 device: whether that made a Vulkan device that has
// breadcrumbs of its own, and whose labels the layer sees (docs/reference/d3d11-layer.md).
class LabelledDeviceScope {
 public:
  LabelledDeviceScope();
  bool seen() const;

  // For the layer.
  static void Note();

 private:
  const uint32_t before_;
};

// Around calls to one Direct3D 12 device.
class DeviceSeenScope {
 public:
  DeviceSeenScope();
  ~DeviceSeenScope();
  DeviceSeenScope(const DeviceSeenScope&) = delete;
  DeviceSeenScope& operator=(const DeviceSeenScope&) = delete;

  // The first driven Vulkan device that made a buffer, memory or a command pool on this thread; null if
  // the layer saw none. It lives as long as the Direct3D device.
  const void* device() const { return device_; }

  // For the layer.
  static void Note(const void* device);

 private:
  DeviceSeenScope* const outer_;
  const void* device_ = nullptr;
};

// Around the implementation's creation of one buffer.
class ExpectedBufferScope {
 public:
  // The buffer's size. With `base`, page-aligned, its memory is to be these pages, `size_bytes` of them
  // (whole pages), which must outlive it; no disk file may back them.
  ExpectedBufferScope(std::byte* base, size_t size_bytes);
  ~ExpectedBufferScope();
  ExpectedBufferScope(const ExpectedBufferScope&) = delete;
  ExpectedBufferScope& operator=(const ExpectedBufferScope&) = delete;

  // Not known() if the layer is absent, or if no buffer of about this size was created.
  const DriverBuffer& buffer() const { return buffer_; }
  bool imported() const { return imported_; }
  // Returns why the buffer was not imported; "" if it was.
  std::string_view reason() const { return reason_.data(); }

  // For the layer. Null where the thread expects none.
  static ExpectedBufferScope* Current();
  std::byte* base() const { return base_; }
  size_t size_bytes() const { return size_bytes_; }
  // The buffer was created; `importable`: so that its memory may be an import.
  void NoteBuffer(const DriverBuffer& buffer, bool importable) {
    buffer_ = buffer;
    awaits_memory_ = importable;
  }
  // Returns true, once, if the next allocation is to be the import.
  bool TakeAllocation() { return std::exchange(awaits_memory_, false); }
  void NoteImport() {
    imported_ = true;
    NoteRefusal("");
  }
  // Cut where it is longer.
  void NoteRefusal(std::string_view reason) {
    reason_[reason.copy(reason_.data(), reason_.size() - 1)] = 0;
  }

 private:
  ExpectedBufferScope* const outer_;
  std::byte* const base_;
  const size_t size_bytes_;
  DriverBuffer buffer_;
  bool awaits_memory_ = false;
  bool imported_ = false;
  std::array<char, 192> reason_;
};

// Around the implementation's creation or reset of one command list and whatever asks for its recording
// afterwards. One without either hides the scopes around it.
class ListOpenScope {
 public:
  ListOpenScope();
  ~ListOpenScope();
  ListOpenScope(const ListOpenScope&) = delete;
  ListOpenScope& operator=(const ListOpenScope&) = delete;

  // Not known() if the layer is absent, or if several command buffers began: only the
  // implementation knows which of them gets the later commands.
  DriverList list() const { return begun_ == 1 ? list_ : DriverList(); }

  // For the layer, and for the backend when the recording starts. Null outside of all scopes.
  static ListOpenScope* Current();
  void NoteBegin(const DriverList& list) {
    list_ = list;
    ++begun_;
  }

 private:
  ListOpenScope* const outer_;
  DriverList list_;
  uint32_t begun_ = 0;
};

// Around the implementation's creation of a Direct3D 11 device whose program wants raw markers: the Vulkan device that is
// made on this thread has breadcrumbs of its own, and writes the raw markers that labels in its command buffers
// describe (raw_marker_text.h).
class RawMarkerScope {
 public:
  // `count`: slots for the program; `own_count`: slots that Cairn adds for itself, which reports
  // ignore.
  RawMarkerScope(uint32_t count, uint32_t own_count);
  ~RawMarkerScope();
  RawMarkerScope(const RawMarkerScope&) = delete;
  RawMarkerScope& operator=(const RawMarkerScope&) = delete;

  // Returns the requested slots in the block, the program's first; null if the layer is absent or
  // has no breadcrumbs for the device. They stay readable for the rest of the process.
  const volatile uint64_t* slots() const { return slots_; }
  // Returns the layer's method, kVulkanBufferMarker or kVulkanFillBuffer: the latter not inside of
  // render passes.
  WriteMethod method() const { return method_; }

  // For the layer. Null where the thread wants none.
  static RawMarkerScope* Current();
  uint32_t count() const { return count_; }
  uint32_t own_count() const { return own_count_; }
  void NoteSlots(const volatile uint64_t* slots, WriteMethod method) {
    slots_ = slots;
    method_ = method;
  }

 private:
  RawMarkerScope* const outer_;
  const volatile uint64_t* slots_ = nullptr;
  const uint32_t count_;
  const uint32_t own_count_;
  WriteMethod method_ = WriteMethod::kNone;
};

// The shaders of a Direct3D pipeline, by stage: what KeepDxbc returns of their code; 0 for none, and for what is not known.
using PipelineCode = std::array<uint64_t, kStageCount>;

// Around the implementation's creation of a Direct3D pipeline. An implementation that translates shaders elsewhere, later or
// on a thread of its own, makes their modules outside of all scopes.
class PipelineCodeScope {
 public:
  // `code` outlives the scope.
  explicit PipelineCodeScope(const PipelineCode& code);
  ~PipelineCodeScope();
  PipelineCodeScope(const PipelineCodeScope&) = delete;
  PipelineCodeScope& operator=(const PipelineCodeScope&) = delete;

  // For the layer. 0 where it is not known.
  static uint64_t CodeOf(ShaderStage stage);

 private:
  const PipelineCode* const outer_;
};

// The innermost scopes of a thread.
struct DriverScopes {
  uint32_t creating_devices = 0;
  uint32_t labelled_devices = 0;  // so far
  uint32_t driven_devices = 0;    // so far
  DeviceSeenScope* seen_device = nullptr;
  ExpectedBufferScope* expected_buffer = nullptr;
  ListOpenScope* opening_list = nullptr;
  RawMarkerScope* raw_markers = nullptr;
  const PipelineCode* pipeline_code = nullptr;
};
// Returns the scopes of the calling thread.
DriverScopes& ThreadDriverScopes();

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_DRIVER_HALF_H_
