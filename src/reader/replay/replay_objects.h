// SPDX-License-Identifier: Apache-2.0
//
// The real objects for those of a trace, and the meaning of recorded numbers, addresses and
// descriptor handles among them. Whatever a trace says, nothing here points outside of a living
// object.
#ifndef CAIRN_READER_REPLAY_REPLAY_OBJECTS_H_
#define CAIRN_READER_REPLAY_REPLAY_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12gen/interfaces.h"
#include "d3d12gen/methods.h"
#include "d3d12gen/roles.h"
#include "format/calls/record.h"
#include "format/trace/trace_state.h"
#include "reader/replay/recent_values.h"
#include "reader/replay/root_signature.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The facts of an object that only the call that made it shows.
struct CreationFacts {
  std::shared_ptr<const RootSignatureLayout> root_signature;
  std::optional<D3D12_QUERY_HEAP_DESC> queries;
  std::optional<GUID> meta_command;  // which it is
  bool dispatches =
      false;  // a command signature: its commands end with a dispatch, not with a draw
  // Command lists: what they were made with.
  uint64_t allocator = kNoObject;
  uint64_t allocator_resets = 0;
  ComPtr<IUnknown> pipeline;
  bool lost_pipeline = false;   // it could not be made here
  ComPtr<IUnknown> own_heap;    // of the player's, in which a placed resource lies
  bool imported = false;        // a heap in place of one that the program opened
  uint64_t shares = kNoObject;  // the object of this replay whose memory is its own
};

struct ReplayObject {
  uint64_t number = 0;
  uint64_t device = 0;
  Chain chain = Chain::kNone;
  // The newest version of the chain that the real object has: it serves all versions before.
  ComPtr<IUnknown> pointer;
  const InterfaceInfo* version = nullptr;

  // Resources.
  D3D12_RESOURCE_DESC desc = {};
  uint64_t gpu_address = 0;  // real; of buffers
  bool is_image = false;     // stands for an image of a swap chain
  struct Mapping {
    std::byte* data = nullptr;  // null: mapped without asking for the address
    uint32_t count = 0;
  };
  std::map<uint32_t, Mapping> maps;  // by subresource

  // Descriptor heaps.
  D3D12_DESCRIPTOR_HEAP_DESC heap = {};
  uint64_t cpu_start = 0;  // real
  uint64_t gpu_start = 0;
  uint32_t increment_bytes = 0;
  uint32_t recorded_increment_bytes = 0;

  CreationFacts created;
  uint64_t resets = 0;  // of a command allocator

  template <typename T>
  T* As() const {  // T: a version that `version` derives from
    return static_cast<T*>(static_cast<void*>(pointer.get()));
  }
};

struct ReplayDescriptor {
  uint64_t real = 0;  // the handle
  uint64_t heap = 0;
  uint32_t index = 0;
  uint32_t heap_count = 0;
  D3D12_DESCRIPTOR_HEAP_TYPE heap_type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  // The handle, as recorded, that a table was set to, if it was in no heap: in the arguments it is
  // null where the CPU reads descriptors of tables, elsewhere what it was. 0: none.
  uint64_t outside = 0;
};

// The interface that declares a method.
const InterfaceInfo* InterfaceOf(Method method);
bool DerivesFrom(const InterfaceInfo* derived, const InterfaceInfo* base);

// One thread. The references are given back when an object is removed, or with the table.
class ReplayObjects {
 public:
  // Adds an object. `real`: any interface of it. Asks the object itself for the interfaces of its
  // chain. Errors: kCorrupt: the number is taken, or the object is none of that chain.
  Result<ReplayObject*> Add(uint64_t number, Chain chain, uint64_t device, IUnknown* real);
  Status SetFacts(ReplayObject* object, const ResourceFacts& facts);
  Status SetFacts(ReplayObject* object, const DescriptorHeapFacts& facts);
  // An object that the trace has and this replay has not: calls that need it are left out.
  void AddAbsent(uint64_t number, bool has_descriptors) {
    absent_[number] = true;
    absent_descriptors_ = absent_descriptors_ || has_descriptors;
  }
  // Descriptors may be in a heap that is absent.
  bool absent_descriptors() const { return absent_descriptors_; }
  void Remove(uint64_t number);
  // Gives nothing back: after a loss or a hang the implementation may never return.
  void Abandon();

  ReplayObject* Find(uint64_t number) {
    ReplayObject* const recent = recent_.Find(number);
    return recent != nullptr ? recent : LookUp(number);
  }
  bool IsAbsent(uint64_t number) const { return absent_.contains(number); }
  // Returns the object's number for the pointer of Find(); 0: none.
  uint64_t NumberOf(const void* pointer) const;
  // Returns the object for the pointer of Find(); null: none.
  ReplayObject* FindReal(const void* pointer) { return Find(NumberOf(pointer)); }
  const std::unordered_map<uint64_t, std::unique_ptr<ReplayObject>>& all() const {
    return objects_;
  }

  // Returns the living buffer that an address was in when it was recorded.
  std::optional<AddressMap::Place> PlaceOf(uint64_t recorded) const {
    return addresses_.Find(recorded);
  }
  // Returns the living buffer that an address of this device is in.
  std::optional<AddressMap::Place> PlaceOfReal(uint64_t real) const {
    return real_addresses_.Find(real);
  }
  // Returns the living buffer of a device, but `without`, that has an address of the device in it and reaches farthest,
  // of several the one that begins first; and where the first ends of those there that structures may lie in: behind it
  // may be something else.
  struct Room {
    uint64_t buffer = 0;
    uint64_t end = 0;
  };
  std::optional<Room> RoomAt(uint64_t device, uint64_t real, uint64_t without = kNoObject) const;
  // Returns how many buffers the call before looks at, at most.
  uint64_t MostLooked() const;
  // Errors: kNotFound: in no living buffer, in no living heap, or behind its end.
  Result<uint64_t> RealAddress(uint64_t recorded) const;
  Result<ReplayDescriptor> RealCpuDescriptor(uint64_t recorded) const;
  Result<ReplayDescriptor> RealGpuDescriptor(uint64_t recorded) const;

 private:
  ReplayObject* LookUp(uint64_t number);
  void RemoveNumber(const void* pointer, uint64_t number);
  Result<ReplayDescriptor> Descriptor(const AddressMap& map, uint64_t recorded, bool gpu) const;

  std::unordered_map<uint64_t, std::unique_ptr<ReplayObject>> objects_;
  RecentValues<ReplayObject> recent_;  // of objects_
  std::unordered_map<uint64_t, bool> absent_;
  bool absent_descriptors_ = false;
  std::unordered_map<const void*, uint64_t> numbers_;
  // Those that an object had before and still has.
  std::unordered_map<const void*, std::set<uint64_t>> further_numbers_;
  AddressMap addresses_;  // recorded
  AddressMap real_addresses_;
  AddressMap cpu_descriptors_;
  AddressMap gpu_descriptors_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_REPLAY_OBJECTS_H_
