// SPDX-License-Identifier: Apache-2.0
//
// Scratch: the memory of one call, for copies of arguments. The first bytes are on the stack; what
// does not fit is allocated and freed when the call is over.
#ifndef CAIRN_APP_D3D12_SCRATCH_H_
#define CAIRN_APP_D3D12_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace cairn {

class Scratch {
 public:
  // 100 barriers, or a pipeline description with all that hangs on it.
  static constexpr size_t kStackBytes = 4096;

  Scratch() = default;
  ~Scratch() {
    while (chunks_ != nullptr) {
      Chunk* const next = chunks_->next;
      std::free(chunks_);
      chunks_ = next;
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Uninitialised, aligned for everything. Null if there is no memory: the caller then passes the
  // argument as it is.
  void* AllocateBytes(uint64_t bytes) {
    if (bytes > kMaxBytes) return nullptr;
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes <= kStackBytes - used_) {
      void* const result = stack_ + used_;
      used_ += bytes;
      return result;
    }
    Chunk* const chunk = static_cast<Chunk*>(std::malloc(sizeof(Chunk) + bytes));
    if (chunk == nullptr) return nullptr;
    chunk->next = chunks_;
    chunks_ = chunk;
    return chunk + 1;
  }

  template <typename T>
  T* Allocate(uint64_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    if (count > kMaxBytes / sizeof(T)) return nullptr;
    return static_cast<T*>(AllocateBytes(count * sizeof(T)));
  }

  // A copy of `count` elements at `source`, which is not null. Null if there is no memory.
  template <typename T>
  std::remove_const_t<T>* Copy(T* source, uint64_t count) {
    auto* const copy = Allocate<std::remove_const_t<T>>(count);
    if (copy != nullptr && count != 0) std::memcpy(copy, source, count * sizeof(T));
    return copy;
  }

 private:
  static constexpr size_t kAlignment = 16;
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 40;
  struct alignas(kAlignment) Chunk {
    Chunk* next;
  };

  size_t used_ = 0;
  Chunk* chunks_ = nullptr;
  alignas(kAlignment) std::byte stack_[kStackBytes];
};

}  // namespace cairn

#endif  // CAIRN_APP_D3D12_SCRATCH_H_
