// SPDX-License-Identifier: Apache-2.0
//
// The instances of a top level that is built, and the records of a DispatchRays: where they lie, and their text.
#ifndef CAIRN_READER_BISECT_RAY_CALL_H_
#define CAIRN_READER_BISECT_RAY_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_state.h"
#include "reader/bisect/call_parts.h"
#include "reader/replay/buffer_addresses.h"

namespace cairn {

class RayCall {
 public:
  // An update must leave inactive what was, and active what was: its instances are no parts to leave out.
  enum class Updates : uint8_t { kNone, kToo };
  // Errors: kNotFound: the call is neither the build of a top level nor a DispatchRays, or an update that is not
  // wanted; those of reading the trace.
  static Result<RayCall> Read(TraceReader* trace, uint64_t call, Updates updates = Updates::kNone);

  CallParts PartsOf(uint64_t call) const;
  // Returns where a part lies; size_bytes 0: nowhere, or behind a pointer.
  BytesToRead PlaceOf(uint64_t part, uint64_t submission) const;
  // The instances lie behind pointers.
  bool pointers() const { return pointers_; }
  // The first part of each table and one behind its last, in order; of instances one.
  std::vector<std::pair<uint64_t, uint64_t>> RangesOfTables() const;
  // Returns where the ray generation record of a DispatchRays lies. It is none of the parts.
  BytesToRead PlaceOfRayGeneration() const;
  std::string RayGenerationInWords(std::span<const std::byte> bytes) const;
  // `InstanceID 2, InstanceMask 0xff, …, bottom level resource 18 "Triangle", at (1, 0, 0)`,
  // `hit group [2], export "Glass"`.
  // `bytes`: those at its place as the trace has them; none if they are not known. `buffers`: when the GPU reads them;
  // null: as the call is made.
  std::string InWords(uint64_t part, std::span<const std::byte> bytes,
                      const TraceState* buffers = nullptr) const;

 private:
  // The array of a build, or the tables of a dispatch in the order of KeptParts.
  struct Table {
    const char* word = "";
    uint64_t count = 0;
    uint64_t stride_bytes = 0;
    uint64_t address = 0;  // as recorded
  };

  BytesToRead PlaceIn(const Table& table, uint64_t index, uint64_t submission) const;
  // Returns the table of a part, and its index there; null: there is none.
  const Table* TableOf(uint64_t part, uint64_t* index) const;
  static std::string InstanceInWords(std::span<const std::byte> bytes, const TraceState& buffers);
  std::string RecordInWords(std::span<const std::byte> bytes) const;
  // Return false if the call is another one.
  bool TakeBuild(const Record& record, TraceReader* trace, Updates updates);
  bool TakeDispatch(const Record& record, TraceReader* trace);

  bool is_build_ = false;
  bool pointers_ = false;
  Table ray_generation_;  // of a dispatch
  std::vector<Table> tables_;
  std::unique_ptr<TraceState> state_;  // where the call is made
  std::map<ShaderIdentifier, std::vector<std::string>> exports_;
};

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_RAY_CALL_H_
