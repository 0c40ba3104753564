// SPDX-License-Identifier: Apache-2.0
//
// From the address of a string literal to its copy in the block. Reading takes no lock. The caller
// compares the copy with the string: an address may be used for another text later.
#ifndef CAIRN_APP_RECORDER_STATIC_NAMES_H_
#define CAIRN_APP_RECORDER_STATIC_NAMES_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "format/block/block.h"

namespace cairn {

class StaticNames {
 public:
  static constexpr uint32_t kCapacity = 65536;  // Power of two; three quarters of it are used.

  // 0 if the address is unknown.
  NameRef Find(const char* address) const {
    const Entry* entries = entries_.load(std::memory_order_acquire);
    if (entries == nullptr) return 0;
    for (uint32_t i = Hash(address);; i = (i + 1) % kCapacity) {
      const char* key = entries[i].address.load(std::memory_order_acquire);
      if (key == address) return entries[i].name.load(std::memory_order_acquire);
      if (key == nullptr) return 0;
    }
  }

  bool HasRoom() const { return count_.load(std::memory_order_relaxed) < kCapacity / 4 * 3; }

  // Adds or replaces; one thread at a time. False when the table is full.
  bool Set(const char* address, NameRef name) {
    if (storage_ == nullptr) {
      storage_ = std::make_unique<Entry[]>(kCapacity);
      entries_.store(storage_.get(), std::memory_order_release);
    }
    for (uint32_t i = Hash(address);; i = (i + 1) % kCapacity) {
      Entry& entry = storage_[i];
      const char* key = entry.address.load(std::memory_order_relaxed);
      if (key != address && key != nullptr) continue;
      if (key == nullptr && !HasRoom()) return false;
      entry.name.store(name, std::memory_order_release);
      if (key == nullptr) {
        count_.fetch_add(1, std::memory_order_relaxed);
        entry.address.store(address, std::memory_order_release);
      }
      return true;
    }
  }

 private:
  struct Entry {
    std::atomic<const char*> address{nullptr};
    std::atomic<NameRef> name{0};
  };

  static uint32_t Hash(const char* address) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address) * 0x9E3779B97F4A7C15u >> 48) %
           kCapacity;
  }

  std::unique_ptr<Entry[]> storage_;
  std::atomic<const Entry*> entries_{nullptr};
  std::atomic<uint32_t> count_{0};
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_STATIC_NAMES_H_
