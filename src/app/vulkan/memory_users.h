// SPDX-License-Identifier: Apache-2.0
//
// MemoryUsers: what ends with what. A buffer or image leads nowhere once its memory has been freed, a view
// once its image has been destroyed; the handles live on, and descriptors hold them. The ends are told to the
// block (recorder/destructions.h), with whoever caused them.
//
// Threads: any. Adding may throw std::bad_alloc.
#ifndef CAIRN_APP_VULKAN_MEMORY_USERS_H_
#define CAIRN_APP_VULKAN_MEMORY_USERS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <unordered_map>

#include "app/vulkan/object_names.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {

class BlockWriter;

class MemoryUsers {
 public:
  using Object = ObjectNames::Object;

  // The most users reported for one free of memory or destruction of an image: a program that ends
  // frees its memory in any order.
  static constexpr uint32_t kMostToldUsers = 256;

  // `context`: index of the device's context record. All outlive it.
  MemoryUsers(BlockWriter& block, uint32_t context, ObjectNames& names)
      : block_(block), context_(context), names_(names) {}

  // Makes `user` end with `used`: a buffer with its memory, a view with its image. Ignores null
  // handles.
  void Add(Object user, Object used);

  // Call it before the object is destroyed or freed: records that, and that its users lead nowhere
  // any more. Ignores objects without memory, and null. `ranges`: kEnd if addresses end with
  // memory, kStay if the driver reports their end.
  void End(Object object, ObjectNames::Ranges ranges);

 private:
  static uint64_t Key(const Object& object) {
    return object.handle ^ static_cast<uint64_t>(object.type) << 49;
  }
  DestroyedThing ThingOf(const Object& object) const;
  DestroyedThing OwnerOf(const Object& used) const;
  void EndUsers(const Object& used, const DestroyedThing& cause, ObjectNames::Ranges ranges,
                uint32_t* left);

  BlockWriter& block_;
  const uint32_t context_;
  ObjectNames& names_;
  using Users = std::unordered_map<uint64_t, Object>;  // by Key
  ShardedMap<Users> users_;                            // by Key of what they use
  ShardedMap<Object> used_;                            // by Key of the user
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_MEMORY_USERS_H_
