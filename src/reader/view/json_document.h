// SPDX-License-Identifier: Apache-2.0
//
// What the verbs print with --json.
#ifndef CAIRN_READER_VIEW_JSON_DOCUMENT_H_
#define CAIRN_READER_VIEW_JSON_DOCUMENT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "base/json_text.h"

namespace cairn::cli {

// The document with a line feed at its end, with base/json_text.h's escapes for whatever could act on a
// terminal; bytes that are not UTF-8 become U+FFFD.
inline std::string JsonDocument(const nlohmann::ordered_json& json) {
  return VisibleJson(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_JSON_DOCUMENT_H_
