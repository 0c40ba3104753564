// SPDX-License-Identifier: Apache-2.0
//
// Decodes what a kObject record says of its object.
#ifndef CAIRN_FORMAT_CALLS_CREATED_OBJECT_H_
#define CAIRN_FORMAT_CALLS_CREATED_OBJECT_H_

#include <optional>
#include <string>
#include <type_traits>

#include "format/calls/record.h"
#include "format/calls/value_decoder.h"

namespace cairn {

struct CreatedObject {
  ObjectBody body{};
  std::optional<ResourceFacts> resource;  // if the body announces them
  std::optional<DescriptorHeapFacts> heap;
};

// Returns the contents of a kObject record. Errors: kCorrupt: the record is too short.
inline Result<CreatedObject> DecodeObject(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const auto read = [&rest](const char* of, auto* facts) {
    const auto body = DecodeBody<std::remove_pointer_t<decltype(facts)>>(&rest);
    if (body.ok()) *facts = *body;
    return body.ok()
               ? Status()
               : Status(StatusCode::kCorrupt, of + std::string(" without the facts about it"));
  };
  CreatedObject object;
  Status status = read("an object", &object.body);
  if (object.body.facts == kResourceFacts) {
    status = read("a resource", &object.resource.emplace());
  } else if (object.body.facts == kDescriptorHeapFacts) {
    status = read("a descriptor heap", &object.heap.emplace());
  }
  if (!status.ok()) return status;
  return object;
}

inline uint64_t HeapBytes(const DescriptorHeapFacts& heap) {
  return uint64_t{heap.count} * heap.increment_bytes;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_CREATED_OBJECT_H_
