// SPDX-License-Identifier: Apache-2.0
//
// From the memory of a call to bytes, by the tables of the API model: no method has code of its own.
//
// Arguments, in the order of the parameters. Results: the result, then every parameter that is out or
// inout, in order. Each by its ValueInfo:
// If the result is an HRESULT that says failure, outputs behind pointers are null: they mean nothing.
//
//   value           its bytes, as many as ValueInfo::size_bytes says. Structs as they lie in memory, what
//                   their pointers point to behind them: pointers in them are written as 0 or 1 (null or
//                   not). Objects, in structs too: u64 number. Wide strings are UTF-16.
//   pointer         u32 count of elements, or kNullBytes; the elements one after another; then, element by
//                   element and field by field, what those pointers point to that are not null. The count
//                   is that of ValueInfo::count. Elements of more than kMaxInlineBytes: a byte value.
//   pointer to pointers to structs   u32 count; for each a pointer to one element
//   array parameter a pointer to as many elements
//   reference       the GUID; zeros for null, which callers in C may pass
//   void** for an object  as a pointer to one object
//   out parameter   among arguments: the u32 only, so that who replays knows how much memory to give
//   void* with a count   a byte value (record.h); a struct whose size is given in bytes, too
//   void* without one    u64 as it is
//   string          u32 bytes without the zero, or kNullBytes; the bytes
//   pipeline state streams, state objects, and what else the tables call special: special_values.h
// docs/formats/trace-format.md has examples.
#ifndef CAIRN_FORMAT_CALLS_VALUE_ENCODER_H_
#define CAIRN_FORMAT_CALLS_VALUE_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "d3d12gen/methods.h"
#include "format/calls/record.h"

namespace cairn {

// Receives encoded bytes. It hands out room, so that there is no virtual call per byte.
class EncodeSink {
 public:
  // Returns at least `bytes` bytes, contiguous, behind those written so far; null if there is no
  // memory: then the record is dropped and reported as incomplete.
  std::byte* Extend(size_t bytes) {
    if (end_ - next_ >= static_cast<ptrdiff_t>(bytes)) [[likely]] {
      std::byte* const room = next_;
      next_ += bytes;
      return room;
    }
    return Grow(bytes);
  }
  size_t size_bytes() const { return static_cast<size_t>(next_ - begin_); }
  std::byte* data() const { return begin_; }

  // Bytes of more than kMaxInlineBytes. Writes kBlob records before this one, and here what refers to
  // them. False: no memory.
  virtual bool PutBlob(const void* bytes, uint64_t size_bytes) = 0;

 protected:
  EncodeSink(std::byte* begin, std::byte* end) : begin_(begin), next_(begin), end_(end) {}
  ~EncodeSink() = default;
  virtual std::byte* Grow(size_t bytes) = 0;

  std::byte* begin_;
  std::byte* next_;
  std::byte* end_;
};

struct EncodeContext {
  // The number of the object behind a pointer that the program passed or got; kNoObject for null. Called
  // for non-null pointers only. `chain`: what it is declared as, kNone if that says nothing.
  uint64_t (*object_number)(const void* object, Chain chain) = nullptr;
  // The size of the program's wchar_t in bytes: 2 or 4.
  uint32_t wchar_bytes = 2;
  // The size of what a void* points to where no argument says it: the data of WriteToSubresource and
  // ReadFromSubresource. 0: it is not recorded.
  uint64_t caller_bytes = 0;
};

// `arguments[i]` points to parameter i as the program passed it (for an array parameter: to the pointer
// that it decays to; for a REFIID: to the GUID, or null where the program passed null). False if the sink
// ran out of memory; what is in the sink is then of no use.
// Never reads memory that the definitions of Direct3D do not promise to be readable. Any thread.
// Cost: bench EncodeCall in docs/performance.md.
bool EncodeArguments(const MethodInfo& method, const void* const* arguments,
                     const EncodeContext& context, EncodeSink* sink);

// `result` points to the result; null for void.
bool EncodeResults(const MethodInfo& method, const void* const* arguments, const void* result,
                   const EncodeContext& context, EncodeSink* sink);

// A method whose results are recorded: it returns something or has outputs.
bool HasResults(const MethodInfo& method);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_VALUE_ENCODER_H_
