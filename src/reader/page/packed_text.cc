// SPDX-License-Identifier: Apache-2.0
#include "reader/page/packed_text.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace cairn {
namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kGzip = 15 + 16;  // the largest window, with the header of gzip
constexpr int kMemoryLevel = 8;

}  // namespace

struct PackedText::State {
  std::function<bool(std::string_view)> print;
  z_stream stream{};
  bool going_on = true;
  std::array<uint8_t, 48 << 10> packed;  // a multiple of 3; the first `kept` bytes wait for others
  size_t kept = 0;
  std::string digits;

  // Three bytes are four digits; the remaining bytes wait, or are the end.
  void Print(size_t size, bool is_end) {
    digits.clear();
    size_t at = 0;
    for (; at + 3 <= size; at += 3) PutDigits(at, 4);
    if (is_end && at < size) {
      const size_t rest = size - at;
      std::fill(packed.begin() + size, packed.begin() + at + 3, uint8_t{0});
      PutDigits(at, rest + 1);
      digits.append(3 - rest, '=');
      at = size;
    }
    std::copy(packed.begin() + at, packed.begin() + size, packed.begin());
    kept = size - at;
    if (!digits.empty()) going_on = print(digits);
  }

  void PutDigits(size_t at, size_t count) {
    const uint32_t bits =
        uint32_t{packed[at]} << 16 | uint32_t{packed[at + 1]} << 8 | packed[at + 2];
    for (size_t i = 0; i < count; ++i) digits += kDigits[bits >> (18 - 6 * i) & 63];
  }

  bool Deflate(std::string_view text, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    int result = Z_OK;
    do {
      stream.next_out = packed.data() + kept;
      stream.avail_out = static_cast<uInt>(packed.size() - kept);
      result = deflate(&stream, flush);
      Print(packed.size() - stream.avail_out, result == Z_STREAM_END);
    } while (going_on && (stream.avail_in != 0 || (flush == Z_FINISH && result == Z_OK)));
    return going_on;
  }
};

PackedText::PackedText(std::function<bool(std::string_view)> print)
    : state_(std::make_unique<State>()) {
  state_->print = std::move(print);
  state_->going_on = deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip,
                                  kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
}

PackedText::~PackedText() {
  deflateEnd(&state_->stream);
}

bool PackedText::Add(std::string_view text) {
  constexpr size_t kMost = size_t{1} << 30;  // what zlib counts with
  while (state_->going_on && !text.empty()) {
    state_->Deflate(text.substr(0, kMost), Z_NO_FLUSH);
    text.remove_prefix(std::min(text.size(), kMost));
  }
  return state_->going_on;
}

bool PackedText::Finish() {
  return state_->going_on && state_->Deflate({}, Z_FINISH);
}

}  // namespace cairn
