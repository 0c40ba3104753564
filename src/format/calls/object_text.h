// SPDX-License-Identifier: Apache-2.0
//
// The name of an object of a trace, spelled alike in every verb, page and JSON.
#ifndef CAIRN_FORMAT_CALLS_OBJECT_TEXT_H_
#define CAIRN_FORMAT_CALLS_OBJECT_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "d3d12gen/chains.h"

namespace cairn {

// Returns the kind of object in words, made from the interface's name: "resource", "command list"; "object" for
// Chain::kNone. Lives as long as the program.
const std::string& ObjectKindText(Chain chain);

// `resource 3 "Scene colour"`, `fence 5` without a name. The name's control characters are made visible.
std::string ObjectText(Chain chain, uint64_t number, std::string_view name = {});

// Returns the number in what a person types for an object: `12`, `#12`, `resource 12`, or the whole of what ObjectText
// returns; nullopt for any other text, which is a name then.
std::optional<uint64_t> ObjectNumberIn(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_OBJECT_TEXT_H_
