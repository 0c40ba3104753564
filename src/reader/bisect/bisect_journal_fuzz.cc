// SPDX-License-Identifier: Apache-2.0
// Any text gives entries or none; entries lie one behind the other, inside of it. The subject in a
// head can be compared, and the entries belong to it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reader/bisect/bisect_journal.h"

namespace {

void CheckEntries(std::string_view text, size_t header_bytes,
                  const std::vector<cairn::JournalEntry>& entries) {
  if (header_bytes > text.size() || (header_bytes == 0 && !entries.empty())) std::abort();
  size_t end = header_bytes;
  for (const cairn::JournalEntry& entry : entries) {
    if (entry.end_offset <= end || entry.end_offset > text.size()) std::abort();
    if (text[entry.end_offset - 1] != '\n') std::abort();
    end = entry.end_offset;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const cairn::JournalIdentity here = {
      {"trace", "t"}, {"device", "d"}, {"driver", "v"}, {"library", "l"}, {"options", "o"}};
  size_t header_bytes = 0;
  const auto entries = cairn::ParseJournal(text, here, &header_bytes);
  CheckEntries(text, header_bytes, entries);

  const cairn::JournalHead head = cairn::ParseJournalHead(text);
  if (head.bytes > size || head.whole != (head.bytes != 0)) std::abort();
  if (head.whole && head.damaged) std::abort();
  for (const auto& [name, value] : head.identity) {
    if (name.find(": ") != std::string::npos || value.find('\n') != std::string::npos) std::abort();
  }
  if (!entries.empty() && !cairn::IdentityDifference(head.identity, here).empty()) std::abort();
  // Equal heads mean equal subjects.
  const auto own = cairn::ParseJournal(text, head.identity, &header_bytes);
  CheckEntries(text, header_bytes, own);
  if (head.whole && header_bytes != head.bytes) std::abort();
  return 0;
}
