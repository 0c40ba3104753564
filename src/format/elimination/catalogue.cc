// SPDX-License-Identifier: Apache-2.0
#include "format/elimination/catalogue.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "cairn/marker_types.h"

namespace cairn {
namespace {

std::vector<std::string> SplitPath(const std::string& text) {
  std::vector<std::string> path;
  if (text.empty()) return path;
  for (size_t start = 0; start != std::string::npos;) {
    const size_t end = text.find(kPathSeparator, start);
    path.push_back(text.substr(start, end == std::string::npos ? end : end - start));
    start = end == std::string::npos ? end : end + 1;
  }
  return path;
}

std::string JoinPath(const std::vector<std::string>& path) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (i != 0) text += kPathSeparator;
    text += path[i];
  }
  return text;
}

WorkNote NoteOf(const Board& board, const WorkEntry& entry) {
  WorkNote note;
  note.key = entry.key.load(std::memory_order_relaxed);
  note.scope = entry.scope;
  note.group = entry.group;
  note.type = entry.type;
  note.ordinal = entry.ordinal;
  note.path = SplitPath(board.TextAt(entry.path));
  note.pipeline = board.TextAt(entry.pipeline);
  note.runs = std::max(1u, entry.runs);
  note.recorded = entry.recorded.load(std::memory_order_relaxed);
  note.submitted = entry.submitted.load(std::memory_order_relaxed);
  note.last_submission = entry.last_submission.load(std::memory_order_relaxed);
  note.last_position = entry.last_position.load(std::memory_order_relaxed);
  return note;
}

bool ByKey(const WorkNote& one, const WorkNote& other) {
  return one.key < other.key;
}

}  // namespace

Result<WorkCatalogue> ReadCatalogue(std::span<const std::byte> memory) {
  // A board is written by others; here nothing is.
  const Result<Board> board = Board::Over({const_cast<std::byte*>(memory.data()), memory.size()});
  if (!board.ok()) return board.status();
  WorkCatalogue catalogue;
  const BoardHeader& header = board->header();
  catalogue.lists = header.lists.load(std::memory_order_relaxed);
  catalogue.dropped = header.dropped.load(std::memory_order_relaxed);
  catalogue.left_out = header.left_out.load(std::memory_order_relaxed);
  catalogue.changes = header.changes.load(std::memory_order_relaxed);
  catalogue.not_changed = header.not_changed.load(std::memory_order_relaxed);
  catalogue.devices = SplitPath(board->TextAt(header.devices.load(std::memory_order_acquire)));
  std::sort(catalogue.devices.begin(), catalogue.devices.end());
  for (const WorkEntry& entry : board->entries()) {
    if (entry.key.load(std::memory_order_acquire) == 0) continue;
    // Skip an entry whose writer died before it finished.
    if (entry.ready.load(std::memory_order_acquire) != 1) continue;
    WorkNote note = NoteOf(*board, entry);
    if (note.key == 0 || note.type >= CAIRN_MARKER_TYPE_LIMIT) continue;
    catalogue.runs = std::max(catalogue.runs, note.runs);
    catalogue.work.push_back(std::move(note));
  }
  std::sort(catalogue.work.begin(), catalogue.work.end(), ByKey);
  const auto same = [](const WorkNote& one, const WorkNote& other) { return one.key == other.key; };
  catalogue.work.erase(std::unique(catalogue.work.begin(), catalogue.work.end(), same),
                       catalogue.work.end());
  return catalogue;
}

std::vector<std::byte> WriteCatalogue(const WorkCatalogue& catalogue) {
  constexpr size_t kLengths = 2 * sizeof(uint16_t);  // of both texts of an entry
  const std::string devices = JoinPath(catalogue.devices);
  size_t text_bytes = 2 * kLengths + devices.size();
  for (const WorkNote& note : catalogue.work) {
    text_bytes += JoinPath(note.path).size() + note.pipeline.size() + kLengths;
  }
  // The header holds words of eight bytes.
  text_bytes = (text_bytes + 7) / 8 * 8;
  std::vector<std::byte> bytes(Board::BytesFor(0, catalogue.work.size(), text_bytes));
  const Board board = Board::Make(bytes, {}, static_cast<uint32_t>(catalogue.work.size()),
                                  static_cast<uint32_t>(text_bytes));
  const auto count = [](uint64_t number) {
    return static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
  };
  board.header().lists.store(count(catalogue.lists));
  board.header().dropped.store(count(catalogue.dropped));
  board.header().left_out.store(catalogue.left_out);
  if (!devices.empty()) board.header().devices.store(board.AddText(devices));
  for (const WorkNote& note : catalogue.work) {
    bool is_new = false;
    WorkEntry* const entry = board.FindOrAdd(note.key, &is_new);
    if (entry == nullptr || !is_new) continue;
    entry->scope = note.scope;
    entry->group = note.group;
    entry->type = note.type;
    entry->ordinal = note.ordinal;
    entry->path = note.path.empty() ? 0 : board.AddText(JoinPath(note.path));
    entry->pipeline = note.pipeline.empty() ? 0 : board.AddText(note.pipeline);
    entry->runs = note.runs;
    entry->recorded.store(note.recorded);
    entry->submitted.store(note.submitted);
    entry->last_submission.store(note.last_submission);
    entry->last_position.store(note.last_position);
    entry->ready.store(1);
  }
  return bytes;
}

void Merge(const WorkCatalogue& run, WorkCatalogue* all) {
  ++all->runs;
  all->lists += run.lists;
  all->dropped = std::max(all->dropped, run.dropped);
  all->left_out += run.left_out;
  all->changes += run.changes;
  all->not_changed += run.not_changed;
  std::vector<std::string> devices;
  std::set_union(all->devices.begin(), all->devices.end(), run.devices.begin(), run.devices.end(),
                 std::back_inserter(devices));
  all->devices = std::move(devices);
  const size_t known = all->work.size();
  for (const WorkNote& note : run.work) {
    const auto end = all->work.begin() + static_cast<std::ptrdiff_t>(known);
    const auto found = std::lower_bound(all->work.begin(), end, note, ByKey);
    if (found == end || found->key != note.key) {
      all->work.push_back(note);
      continue;
    }
    const uint32_t runs = found->runs + 1;
    *found = note;
    found->runs = runs;
  }
  std::sort(all->work.begin(), all->work.end(), ByKey);
}

}  // namespace cairn
