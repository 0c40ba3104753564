// SPDX-License-Identifier: Apache-2.0
//
// Text as letters that mean nothing to HTML: compressed by gzip, which browsers decompress, and written in base 64.
#ifndef CAIRN_READER_PAGE_PACKED_TEXT_H_
#define CAIRN_READER_PAGE_PACKED_TEXT_H_

#include <functional>
#include <memory>
#include <string_view>

namespace cairn {

class PackedText {
 public:
  // `print` is given pieces, none of them after it said false.
  explicit PackedText(std::function<bool(std::string_view)> print);
  ~PackedText();
  PackedText(const PackedText&) = delete;
  PackedText& operator=(const PackedText&) = delete;

  // False once nothing more can be taken.
  bool Add(std::string_view text);
  // The rest. Call it once, at the end.
  bool Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_READER_PAGE_PACKED_TEXT_H_
