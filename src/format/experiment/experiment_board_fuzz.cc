// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a board or none. What is read from one is written and read back unchanged, and a layer may use it.
//
// The input is the front of the memory, up to the texts' end, and behind it the records: the space between them would
// make each input too large.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "format/experiment/experiment_board.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

struct Release {
  void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{4096}); }
};
using Memory = std::unique_ptr<std::byte, Release>;

Memory Zeros(size_t bytes) {
  Memory memory(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{4096})));
  std::memset(memory.get(), 0, bytes);
  return memory;
}

// A board that was read fits into another one whole.
void WriteAgain(const cairn::ExperimentNotes& catalogue) {
  const auto loop_count =
      static_cast<uint32_t>(catalogue.loops.size() + catalogue.accesses.size() +
                            catalogue.counts.size() + catalogue.bindings.size()) +
      1;
  // Entries may share their texts; in a copy each has its own. Excerpts leave half of the room to others.
  const uint32_t text_bytes = 2 * (16 + loop_count * (7 * 512 + 2048));
  const size_t bytes = cairn::ExperimentBoard::BytesFor(loop_count, text_bytes);
  const Memory memory = Zeros(bytes);
  const cairn::ExperimentBoard board =
      cairn::ExperimentBoard::Make({memory.get(), bytes}, loop_count, text_bytes);
  for (const cairn::LoopNote& note : catalogue.loops) {
    const std::optional<uint32_t> at = board.Reserve(1);
    Require(at.has_value());
    board.Describe(*at, note);
    board.records()[*at] = note.record;
  }
  for (const cairn::AccessNote& note : catalogue.accesses) {
    const std::optional<uint32_t> at = board.Reserve(1);
    Require(at.has_value());
    board.Describe(*at, note);
    std::memcpy(&board.records()[*at], &note.record, sizeof(note.record));
  }
  for (const cairn::CountNote& note : catalogue.counts) {
    const std::optional<uint32_t> at = board.Reserve(1);
    Require(at.has_value());
    board.Describe(*at, note);
    std::memcpy(&board.records()[*at], &note.record, sizeof(note.record));
  }
  for (const cairn::BindingNote& note : catalogue.bindings) {
    const std::optional<uint32_t> at = board.Reserve(1);
    Require(at.has_value());
    board.Describe(*at, note);
  }
  const cairn::ExperimentNotes again = board.Read();
  Require(again.loops == catalogue.loops && again.accesses == catalogue.accesses &&
          again.counts == catalogue.counts && again.bindings == catalogue.bindings);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kMostLoops = 64;
  constexpr uint32_t kMostTextBytes = 4096;
  uint32_t counts[2] = {0, 0};
  if (size >= 16) std::memcpy(counts, data + 8, sizeof(counts));
  const uint32_t made_for = std::min(counts[0], kMostLoops);
  const uint32_t text_bytes = std::min(counts[1], kMostTextBytes);
  const size_t bytes = cairn::ExperimentBoard::BytesFor(made_for, text_bytes);
  const Memory memory = Zeros(bytes);
  const size_t front =
      std::min(size, cairn::ExperimentBoard::kHeaderBytes +
                         made_for * cairn::ExperimentBoard::kEntryBytes + text_bytes);
  if (front != 0) std::memcpy(memory.get(), data, front);
  const cairn::Result<cairn::ExperimentBoard> board =
      cairn::ExperimentBoard::Over({memory.get(), bytes});
  if (!board.ok()) return 0;
  // Sizes are rounded up: other counts than those above may fit them, too.
  const auto loop_count = static_cast<uint32_t>(board->records().size());
  const size_t record_bytes = std::min(size - front, board->records().size_bytes());
  if (record_bytes != 0) std::memcpy(board->records().data(), data + front, record_bytes);
  const cairn::ExperimentNotes catalogue = board->Read();
  Require(catalogue.loops.size() + catalogue.accesses.size() + catalogue.counts.size() +
              catalogue.bindings.size() <=
          loop_count);
  WriteAgain(catalogue);
  // A layer on a damaged board.
  const std::optional<uint32_t> at = board->Reserve(3);
  Require(!at || *at + 3 <= loop_count);
  cairn::LoopNote loop;
  loop.function = "main";
  board->Describe(at.value_or(loop_count), loop);
  cairn::AccessNote access;
  access.by_descriptor = true;
  board->Describe(at.value_or(loop_count), access);
  board->CountLimited();
  board->CountRefused("the module is not valid");
  board->SetWhyNone("the device has no addresses of buffers");
  Require(board->Read().loops.size() <= loop_count);
  return 0;
}
