// SPDX-License-Identifier: Apache-2.0
//
// Names of objects as applications give them, as UTF-8 for the block. Invalid characters become
// U+FFFD: an application's mistake in a name must not cost the report.
#ifndef CAIRN_APP_D3D12_OBJECT_NAME_H_
#define CAIRN_APP_D3D12_OBJECT_NAME_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/block/block.h"

namespace cairn {

class ObjectName {
 public:
  ObjectName() = default;  // no name

  // Characters of `char_bytes` (1: UTF-8, or Latin-1 where it is not; 2: UTF-16; 4: UTF-32) up to a
  // zero or, if `max_bytes` is given, its end; null is no name. Reads no more than needed.
  ObjectName(const void* name, uint32_t char_bytes, size_t max_bytes = SIZE_MAX);

  std::string_view utf8() const { return {text_, length_}; }
  // Returns true if the name was longer.
  bool cut() const { return cut_; }

 private:
  void Append(uint32_t code_point);

  size_t length_ = 0;
  bool cut_ = false;
  char text_[kObjectNameBytes] = {};
};

}  // namespace cairn

#endif  // CAIRN_APP_D3D12_OBJECT_NAME_H_
