// SPDX-License-Identifier: Apache-2.0
//
// Unpacks text as browsers do.
#ifndef CAIRN_READER_PAGE_TESTING_UNPACK_H_
#define CAIRN_READER_PAGE_TESTING_UNPACK_H_

#include <zlib.h>

#include <string>
#include <string_view>

namespace cairn {

// "" if it is not whole.
inline std::string Unpacked(std::string_view packed) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char digit : packed) {
    const size_t value =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            .find(digit);
    if (value == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK) {
    char piece[4096];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof(piece);
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, sizeof(piece) - stream.avail_out);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END ? text : "";
}

}  // namespace cairn

#endif  // CAIRN_READER_PAGE_TESTING_UNPACK_H_
