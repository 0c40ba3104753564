// SPDX-License-Identifier: Apache-2.0
//
// A decoded call (with wide strings of 2 bytes a character) as people read it, and as programs do:
// enumerators and flags by name, objects by number and name, GPU addresses by resource and offset,
// descriptors by heap and index.
#ifndef CAIRN_FORMAT_CALLS_VALUE_PRINTER_H_
#define CAIRN_FORMAT_CALLS_VALUE_PRINTER_H_

#include <cstdint>
#include <string>

#include "base/json_writer.h"
#include "format/calls/object_text.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_output.h"

namespace cairn {

// Resolves numbers at this place of the trace to names (format/trace/trace_state.h). Returns "" for
// an unknown number.
class ValueNames {
 public:
  virtual ~ValueNames() = default;
  virtual std::string Object(uint64_t number) const { return ObjectText(Chain::kNone, number); }
  virtual std::string GpuAddress(uint64_t) const { return ""; }
  virtual std::string CpuDescriptor(uint64_t) const { return ""; }
  virtual std::string GpuDescriptor(uint64_t) const { return ""; }
};

// "DrawIndexedInstanced(IndexCountPerInstance = 36, InstanceCount = 1, ...)". Elements of arrays that are
// like the one before them are counted, "[0 (8 times)]"; of different ones 8 are shown, and of bytes 16,
// unless `whole`. Control characters in strings are made visible.
std::string PrintArguments(const MethodInfo& method, const DecodedCall& call,
                           const ValueNames& names, bool whole = false);
// The same in full, but bytes by their number and hash: what `names` calls the same is equal in two traces.
std::string ArgumentsToCompare(const MethodInfo& method, const DecodedCall& call,
                               const ValueNames& names);
// "S_OK, ppvHeap = descriptor heap 5". "" if there is nothing to say.
std::string PrintResult(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                        bool whole = false);
// "E_INVALIDARG", "0x8000ffff".
std::string ResultCodeName(uint32_t code);
// The members of the structs that a call is passed, a line each: "Format  DXGI_FORMAT_R8_UNORM\n".
std::string PrintMembers(const MethodInfo& method, const DecodedCall& call,
                         const ValueNames& names);
// A value of the tables in memory, alone: "{Format = DXGI_FORMAT_R8_UNORM, ...}", and as JSON.
std::string PrintValue(const ValueInfo& value, const void* place, const ValueNames& names);
void WriteValue(const ValueInfo& value, const void* place, const ValueNames& names,
                JsonWriter* json);

// {"IndexCountPerInstance":36,...}: values by parameter, structs as objects, bytes as {"bytes":n,
// "xxh64":"..."}, {"object":12,"text":"..."}, {"address":"0x1000","text":"..."}; arrays in full,
// unless the text has more than `most_bytes`: then {"left_out":n} is their last element.
// docs/formats/calls.schema.json. `whole`: bytes have a key "hex", too. Cost: bench PrintCallJson.
void WriteArguments(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                    bool whole, JsonWriter* json, size_t most_bytes = kMostValueBytes);
void WriteResult(const MethodInfo& method, const DecodedCall& call, const ValueNames& names,
                 bool whole, JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_VALUE_PRINTER_H_
