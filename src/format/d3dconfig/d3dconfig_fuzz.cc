// SPDX-License-Identifier: Apache-2.0
// Any text is settings or an error with its line; settings are written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "format/d3dconfig/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const cairn::Result<cairn::D3DConfigPlace> place = cairn::ParseD3DConfig(text);
  if (!place.ok()) {
    if (place.status().code() != cairn::StatusCode::kCorrupt) std::abort();
    if (place.status().message().empty()) std::abort();
    return 0;
  }
  // The comment at the top may make it longer than a place takes.
  const cairn::Result<std::string> again = cairn::FormatD3DConfig(*place);
  if (!again.ok()) return 0;
  const cairn::Result<cairn::D3DConfigPlace> read = cairn::ParseD3DConfig(*again);
  if (!read.ok() || !(*read == *place)) std::abort();
  return 0;
}
