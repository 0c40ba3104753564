// SPDX-License-Identifier: Apache-2.0
//
// The label by which the Direct3D 11 layer names the call that the following commands belong to;
// the implementation carries it to its place among the commands, where the Vulkan layer below reads
// it. docs/reference/d3d11-layer.md. The label has this text, and
//   is inserted in front of a draw or a dispatch: the next draw or dispatch is that call;
//   begins in front of any other call, and ends behind it: everything in it is one piece of work.
// Regions around draws would do as well, but are dear (bench/draws-d3d11).
#ifndef CAIRN_APP_BREADCRUMBS_WORK_LABEL_H_
#define CAIRN_APP_BREADCRUMBS_WORK_LABEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cairn/breadcrumbs.h"

namespace cairn {

struct WorkLabel {
  // "cairn:work:TTTT:PPPPPPPP", both numbers in hexadecimal digits.
  static constexpr std::string_view kPrefix = "cairn:work:";
  static constexpr size_t kTypeDigits = 4;
  static constexpr size_t kPipelineDigits = 8;
  static constexpr size_t kLength = kPrefix.size() + kTypeDigits + 1 + kPipelineDigits;

  CairnMarkerType type = CAIRN_MARKER_PASS;
  CairnPipeline pipeline = 0;  // of any context of this process; 0 for none

  // `text` takes kLength characters and a zero.
  template <typename Character>
  void Write(Character* text) const {
    for (const char c : kPrefix) *text++ = static_cast<Character>(c);
    text = WriteNumber(text, static_cast<uint32_t>(type), kTypeDigits);
    *text++ = ':';
    text = WriteNumber(text, static_cast<uint32_t>(pipeline), kPipelineDigits);
    *text = 0;
  }

  // Returns nullopt for any other text, which may be null.
  static std::optional<WorkLabel> Read(const char* text);

 private:
  template <typename Character>
  static Character* WriteNumber(Character* text, uint32_t number, size_t digits) {
    for (size_t i = digits; i-- > 0; number >>= 4) {
      text[i] = static_cast<Character>("0123456789abcdef"[number & 15]);
    }
    return text + digits;
  }
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_WORK_LABEL_H_
