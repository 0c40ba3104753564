// SPDX-License-Identifier: Apache-2.0
//
// The parts of objects that `cairn objects` shows: the arguments of command signatures, the exports of state
// objects. Texts are visible (base/text.h).
#ifndef CAIRN_READER_VIEW_OBJECT_PARTS_H_
#define CAIRN_READER_VIEW_OBJECT_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/calls/record.h"

namespace cairn::cli {

// So many arguments or exports of an object are kept.
inline constexpr size_t kMostCreationParts = 32;

struct SignatureParts {
  uint32_t stride_bytes = 0;
  uint64_t argument_count = 0;
  std::vector<std::string> arguments;  // "CONSTANT root 0, 4 values at 2"
};

struct StateObjectParts {
  struct Export {
    std::string kind;  // "hit group"
    std::string name;  // "" of all exports of a library or collection
    std::string text;  // `hit group "Glass": closest hit "Refract"`
  };
  std::string kind;            // "RAYTRACING_PIPELINE"
  uint64_t grows = kNoObject;  // the state object that AddToStateObject adds to
  uint64_t export_count = 0;
  std::vector<Export> exports;
};

// "20 bytes each: CONSTANT root 0, 1 value at 0; DRAW".
std::string InWords(const SignatureParts& parts);
std::string InWords(const StateObjectParts& parts);

// By object.
struct ObjectParts {
  std::unordered_map<uint64_t, SignatureParts> signatures;
  std::unordered_map<uint64_t, StateObjectParts> state_objects;

  // Null: nothing is known of it.
  const SignatureParts* SignatureOf(uint64_t object) const {
    const auto found = signatures.find(object);
    return found == signatures.end() ? nullptr : &found->second;
  }
  const StateObjectParts* StateObjectOf(uint64_t object) const {
    const auto found = state_objects.find(object);
    return found == state_objects.end() ? nullptr : &found->second;
  }
};

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_OBJECT_PARTS_H_
