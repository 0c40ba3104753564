// SPDX-License-Identifier: Apache-2.0
//
// Bodies of kCall and kResult records from values written in C++: for tests, and for what adds calls to a
// trace. No graphics header is needed: an argument is a number, a pointer, or a struct as it lies in
// memory; numbers take the size that the parameter has. Objects are their numbers, as pointers:
//
//   CallBuilder builder;
//   const auto body = builder.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, 1, &barrier);
//   const auto result = builder.Result(Method::ID3D12Device_CreateFence, call_number, hresult,
//                                      0, 0, iid, &fence);   // the arguments once more, with outputs
//   body.blobs are records that go before it.
#ifndef CAIRN_FORMAT_CALLS_CALL_BUILDER_H_
#define CAIRN_FORMAT_CALLS_CALL_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "d3d12gen/methods.h"
#include "format/calls/record.h"
#include "format/calls/value_encoder.h"

namespace cairn {

// The pointer that stands for an object in arguments of a CallBuilder.
inline void* ObjectPointer(uint64_t number) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(number));
}

class CallBuilder {
 public:
  struct Blob {
    uint64_t number;
    std::vector<std::byte> body;  // BlobBody and the bytes
  };
  struct Body {
    std::vector<std::byte> bytes;
    std::vector<Blob> blobs;
    bool ok = false;  // false: the arguments do not fit the method's parameters
  };

  // Blobs get numbers from `first_blob` on; wide strings have characters of `wchar_bytes`.
  explicit CallBuilder(uint64_t first_blob = uint64_t{1} << 32, uint32_t wchar_bytes = 2);

  template <typename... Arguments>
  Body Call(Method method, const Arguments&... arguments) {
    return Build(method, nullptr, nullptr, {Value(arguments)...});
  }
  // `result`: what the method returned; nullptr for void.
  template <typename Returned, typename... Arguments>
  Body Result(Method method, uint64_t call, const Returned& result, const Arguments&... arguments) {
    const Value value(result);
    return Build(method, &call, &value, {Value(arguments)...});
  }

  // Sets EncodeContext::caller_bytes of the next body: the size of memory that only the caller
  // knows.
  void SetCallerBytes(uint64_t bytes) { caller_bytes_ = bytes; }

 private:
  // An argument, or a result.
  struct Value {
    template <typename T>
    explicit Value(const T& argument) {
      if constexpr (std::is_null_pointer_v<T>) {
        bytes.assign(sizeof(void*), std::byte{0});
      } else if constexpr (std::is_array_v<T>) {
        Set(static_cast<const void*>(argument));  // it decays
      } else {
        Set(argument);
        is_integer = std::is_integral_v<T> || std::is_enum_v<T>;
        if constexpr (std::is_integral_v<T>) is_negative = argument < T{0};
      }
    }
    template <typename T>
    void Set(const T& value) {
      static_assert(std::is_trivially_copyable_v<T>);
      bytes.resize(sizeof(value));
      std::memcpy(bytes.data(), &value, sizeof(value));
    }
    // A number becomes as large as wanted. False if the size is another.
    bool Fit(size_t size);

    std::vector<std::byte> bytes;
    bool is_integer = false;
    bool is_negative = false;
  };

  Body Build(Method method, const uint64_t* call, const Value* result,
             std::initializer_list<Value> arguments);

  uint64_t next_blob_;
  uint32_t wchar_bytes_;
  uint64_t caller_bytes_ = 0;
};

// An EncodeSink into memory of its own. Blobs are kept in order.
class CallSink final : public EncodeSink {
 public:
  explicit CallSink(uint64_t first_blob) : EncodeSink(nullptr, nullptr), next_blob_(first_blob) {}
  ~CallSink() = default;

  bool PutBlob(const void* bytes, uint64_t size_bytes) override;
  std::vector<std::byte> Take();
  std::vector<CallBuilder::Blob>& blobs() { return blobs_; }
  uint64_t next_blob() const { return next_blob_; }

 protected:
  std::byte* Grow(size_t bytes) override;

 private:
  std::vector<std::byte> memory_;
  std::vector<CallBuilder::Blob> blobs_;
  uint64_t next_blob_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_CALL_BUILDER_H_
