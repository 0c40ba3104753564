// SPDX-License-Identifier: Apache-2.0
//
// Untrusted text in JSON: the value stays what it is, and the document cannot act on the terminal that
// shows it.
#ifndef CAIRN_BASE_JSON_TEXT_H_
#define CAIRN_BASE_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace cairn {

// Appends `text` as it stands between the quotes of a JSON string. Quotes, backslashes and whatever
// VisibleText() (base/text.h) would write out become escapes, "\u202e"; each byte that is not UTF-8
// becomes U+FFFD.
void AppendJsonText(std::string_view text, std::string& out);

}  // namespace cairn

#endif  // CAIRN_BASE_JSON_TEXT_H_
