// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a board or none. A board that was read is written and read back unchanged, and a
// layer may use it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "format/elimination/catalogue.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// A layer on a damaged board.
void Use(std::vector<std::byte> memory) {
  const cairn::Result<cairn::Board> board = cairn::Board::Over(memory);
  if (!board.ok()) return;
  (void)board->LeavesOut(cairn::LeaveOutClass::kShader, 1, 2, 3);
  bool is_new = false;
  cairn::WorkEntry* const entry = board->FindOrAdd(7, &is_new);
  Require(entry != nullptr || !is_new);
  const cairn::TextOffset text = board->AddText("text");
  Require(text == 0 || board->TextAt(text) == "text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostBytes = 1 << 16;
  if (size > kMostBytes) return 0;
  std::vector<std::byte> memory(size);
  if (size != 0) std::memcpy(memory.data(), data, size);
  const auto catalogue = cairn::ReadCatalogue(memory);
  if (catalogue.ok()) {
    const auto again = cairn::ReadCatalogue(cairn::WriteCatalogue(*catalogue));
    Require(again.ok() && again->work == catalogue->work);
    Require(again->devices == catalogue->devices);
    cairn::WorkCatalogue merged = *catalogue;
    cairn::Merge(*again, &merged);
    Require(merged.work.size() == catalogue->work.size());
  }
  Use(memory);
  return 0;
}
