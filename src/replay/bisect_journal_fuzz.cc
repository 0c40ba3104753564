// SPDX-License-Identifier: Apache-2.0
// Any text gives entries or none; entries lie one behind the other, inside of it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replay/bisect_journal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t header_bytes = 0;
  const auto entries = cairn::ParseJournal(text, "trace", &header_bytes);
  if (header_bytes > size || (header_bytes == 0 && !entries.empty())) std::abort();
  size_t end = header_bytes;
  for (const cairn::JournalEntry& entry : entries) {
    if (entry.end_offset <= end || entry.end_offset > size) std::abort();
    if (text[entry.end_offset - 1] != '\n') std::abort();
    end = entry.end_offset;
  }
  return 0;
}
