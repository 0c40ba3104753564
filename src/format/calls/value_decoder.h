// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a record back to the memory of a call: structs and arrays as Direct3D 12 lays them
// out, ready to be passed on, printed or compared. The bytes may come from anybody: whatever they say,
// nothing outside of them is read and no more memory is taken than DecodeLimits allows.
#ifndef CAIRN_FORMAT_CALLS_VALUE_DECODER_H_
#define CAIRN_FORMAT_CALLS_VALUE_DECODER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "d3d12gen/methods.h"
#include "format/calls/record.h"

namespace cairn {

// Memory of one decoded call after another; Reset() keeps a piece for the next.
class Arena {
 public:
  static constexpr uint64_t kDefaultLimitBytes = uint64_t{1} << 30;
  explicit Arena(uint64_t limit_bytes = kDefaultLimitBytes) : limit_bytes_(limit_bytes) {}

  // Zeroed, aligned to kAlignment. Null beyond the limit.
  void* Allocate(uint64_t bytes) {
    if (bytes > limit_bytes_ - used_bytes_) return nullptr;
    const uint64_t wanted = bytes == 0 ? kAlignment : Aligned(bytes);
    const bool fits = !pieces_.empty() && wanted <= pieces_.back().size_bytes - piece_used_;
    if (!fits && !AddPiece(wanted)) return nullptr;
    std::byte* const memory = pieces_.back().bytes.get() + piece_used_;
    piece_used_ += wanted;
    used_bytes_ += std::min(wanted, limit_bytes_ - used_bytes_);
    return memory;
  }
  void Reset();

  // All that is allocated behind a mark can be given back at once.
  struct Mark {
    size_t piece_count;
    size_t piece_used;
    uint64_t used_bytes;
  };
  Mark Here() const { return {pieces_.size(), piece_used_, used_bytes_}; }
  void Rewind(const Mark& mark);

  static constexpr uint64_t kAlignment = 16;
  static constexpr uint64_t Aligned(uint64_t bytes) {
    return (bytes + kAlignment - 1) & ~(kAlignment - 1);
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  struct Piece {
    std::unique_ptr<std::byte, Free> bytes;
    size_t size_bytes = 0;
  };

  // False: there is no memory.
  bool AddPiece(uint64_t bytes);

  uint64_t limit_bytes_;
  uint64_t used_bytes_ = 0;
  size_t piece_used_ = 0;  // of the last one
  std::vector<Piece> pieces_;
};

// Gives the bytes of blobs (format/trace/trace_reader.h).
class BlobSource {
 public:
  // The bytes of the kBlob record with this number, valid until the next call.
  // Errors: kNotFound, kCorrupt.
  virtual Result<std::span<const std::byte>> Blob(uint64_t number) = 0;

 protected:
  ~BlobSource() = default;
};

// Called with every value that is meaningless outside of the recorded process, in its place, to be
// replaced there (8 bytes each). An error ends the decoding. The default leaves all as recorded:
// objects are their numbers.
class ValueVisitor {
 public:
  virtual ~ValueVisitor() = default;
  // `declared`: the interface's chain, kNone if several may stand there.
  virtual Status Object(Chain declared, uint64_t* place);
  virtual Status GpuAddress(uint64_t* place);
  virtual Status CpuDescriptor(uint64_t* place);
  virtual Status GpuDescriptor(uint64_t* place);
  virtual Status Handle(HandleKind kind, uint64_t* place);
  // A function of the program, or memory of it of which nothing is known.
  virtual Status Callback(uint64_t* place);
};

struct DecodeOptions {
  uint32_t wchar_bytes = 2;  // of wide strings in the decoded memory
  ValueVisitor* visitor = nullptr;
  BlobSource* blobs = nullptr;  // null: a record with blobs is kUnsupported
  // Parts of pipelines and state objects whose types are unknown are kUnsupported; otherwise they are left
  // as they were recorded, which is for printing only.
  bool refuse_unknown_parts = false;
  // Cached blobs of pipelines, which mean something to the recording driver only, become empty.
  bool drop_cached_pipelines = false;
};

struct DecodedCall {
  // One a parameter: points to the parameter's own memory, as value_encoder.h takes it. Out parameters
  // point to zeroed memory of the size that the program gave.
  std::vector<void*> arguments;
  // The number of elements (bytes for untyped data) that each parameter points to; 0 for other
  // parameters.
  std::vector<uint64_t> counts;
  // The memory of the result, for a record of results; null for void.
  void* result = nullptr;
};

// `body`: of a kCall record, or what follows ResultBody in a kResult record. All in `arena`.
// Errors: kCorrupt with the parameter's name (too short, too long, a count that the siblings contradict,
// a limit), and whatever the visitor and the blobs say.
Status DecodeArguments(const MethodInfo& method, std::span<const std::byte> body,
                       const DecodeOptions& options, Arena* arena, DecodedCall* call);
// Fills the result, and those arguments that are outputs; the others are null.
Status DecodeResults(const MethodInfo& method, std::span<const std::byte> body,
                     const DecodeOptions& options, Arena* arena, DecodedCall* call);

// Decodes a byte value at the beginning of `rest` and moves `rest` behind it. Null data: the
// pointer was null. Bytes in blobs are concatenated in `arena`.
Result<std::span<const std::byte>> DecodeBytes(std::span<const std::byte>* rest, BlobSource* blobs,
                                               Arena* arena);

// The struct that a body begins with; kCorrupt if it is too short. Moves `rest` behind it.
template <typename Body>
Result<Body> DecodeBody(std::span<const std::byte>* rest) {
  if (rest->size() < sizeof(Body)) return Status(StatusCode::kCorrupt, "the record is too short");
  Body body;
  __builtin_memcpy(&body, rest->data(), sizeof(body));
  *rest = rest->subspan(sizeof(body));
  return body;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_VALUE_DECODER_H_
