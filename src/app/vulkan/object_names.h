// SPDX-License-Identifier: Apache-2.0
//
// ObjectNames: the objects of a device that are in the block's object table: those that the application
// named, buffers that recordings bound, and one entry for each range of GPU addresses that an object is bound to.
//
// Threads: any; one lock, which whoever destroys an object does not take while nothing is in the table.
// Adding may throw std::bad_alloc.
#ifndef CAIRN_APP_VULKAN_OBJECT_NAMES_H_
#define CAIRN_APP_VULKAN_OBJECT_NAMES_H_

#include <vulkan/vulkan_core.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/recorder/object_table.h"
#include "app/vulkan/handle_map.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {

class BlockWriter;

class ObjectNames {
 public:
  // `context`: index of the device's context record. The block outlives it.
  ObjectNames(BlockWriter& block, uint32_t context);
  // Ends the remaining objects together with the device.
  ~ObjectNames();

  ObjectNames(const ObjectNames&) = delete;
  ObjectNames& operator=(const ObjectNames&) = delete;

  struct Object {
    VkObjectType type = VK_OBJECT_TYPE_UNKNOWN;
    uint64_t handle = 0;
    bool operator==(const Object&) const = default;
  };

  // A buffer or an image was made so; its entries, if it gets any, tell it (format/block/object_description.h).
  void Describe(Object object, uint64_t description, uint64_t size_bytes);

  // "" takes the name away.
  void SetName(Object object, std::string_view utf8);

  // The object, 0 if the driver does not say which, has these GPU addresses from now on.
  void Bind(Object object, uint64_t address, uint64_t size_bytes);
  // Ends one range bound so; if there is none, one of any other object with these addresses.
  void Unbind(Object object, uint64_t address, uint64_t size_bytes);

  enum class Ranges {
    kEnd,   // its addresses go with it
    kStay,  // Unbind will say when
  };
  // The object lives on, but with these addresses it leads nowhere: its memory was freed.
  void EndRanges(Object object, const DestroyedThing& cause);
  // Returns the object's entry: that of its first range, if it has ranges.
  ObjectEntry EntryOf(Object object);
  // The same of an object that ends. If it has no entry and was described, it gets one.
  ObjectEntry EntryToEnd(Object object);

  // 1 + the index of the buffer's entry, for recordings that bind it, until that one ends; without one, it gets one.
  // 0: the table is full. Takes a lock, and may allocate, only the first time.
  uint32_t PlaceOf(VkBuffer buffer) noexcept {
    const uint64_t known = reinterpret_cast<uintptr_t>(places_.Find(HandleValue(buffer)));
    if (known >> 32 == context_ + 1) [[likely]]
      return static_cast<uint32_t>(known);
    return FindPlace(buffer);
  }

  // Call it before the object is destroyed, after its entry (EntryOf) was recorded: its handle may
  // soon be another object's.
  void Forget(Object object, Ranges ranges);

 private:
  // Objects of different types may have equal handles.
  static uint64_t Key(const Object& object) {
    return object.handle ^ static_cast<uint64_t>(object.type) << 49;
  }
  struct Description {
    uint64_t packed = 0;
    uint64_t size_bytes = 0;  // of a buffer
  };
  static bool IsDescribed(VkObjectType type) {
    return type == VK_OBJECT_TYPE_BUFFER || type == VK_OBJECT_TYPE_IMAGE;
  }

  struct HashObject {
    size_t operator()(const Object& object) const {
      return (object.handle ^ static_cast<uint64_t>(object.type)) * 0x9e3779b97f4a7c15u;
    }
  };
  struct Entry {
    uint32_t own = ObjectTable::kNone;  // an object without addresses
    std::vector<uint32_t> ranges;       // indices into the object table
  };
  struct Range {
    Object object;
    uint64_t size_bytes;
    uint32_t index;
  };

  using Entries = std::unordered_map<Object, Entry, HashObject>;

  // The places by buffer of any device: context + 1 in the high half, as handles need not differ
  // between devices, and the place.
  static constinit HandleTree places_;

  uint32_t FindPlace(VkBuffer buffer) noexcept;
  // Call it when the object's entry ends, or another one becomes the first.
  void ForgetPlace(const Object& object) noexcept {
    if (object.type == VK_OBJECT_TYPE_BUFFER) places_.Set(object.handle, nullptr);
  }
  uint32_t AddRecord(const Object& object, uint64_t address, uint64_t size_bytes);
  std::string_view NameOf(uint32_t index) const;
  void EraseRange(uint64_t address, uint32_t index);
  void KeepWithoutRanges(Entries::iterator entry, const std::string& name);
  void CountEntries() { entries_.store(objects_.size(), std::memory_order_relaxed); }

  ShardedMap<Description> descriptions_;
  ObjectTable& table_;
  const uint32_t context_;
  std::atomic<size_t> entries_{0};
  std::mutex mutex_;
  Entries objects_;
  std::unordered_multimap<uint64_t, Range> ranges_;  // by address
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_OBJECT_NAMES_H_
