// SPDX-License-Identifier: Apache-2.0
//
// Seeks the dump that costs the most memory and output for each byte of its file, and fails where a file below 1 MiB
// costs more than docs/reference/bounds.md says. An input is a recipe: which tables are full, with how many rows and how long a
// name, and the bytes that their numbers are made of. The file that comes of it is compressed as those of users are, and
// its size is what counts. Counters of libFuzzer's tell it which inputs came further than any before.
#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "format/file/file_cost.h"
#include "format/snapshot/event_matching.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/full_tables.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "reader/analysis/findings.h"
#include "reader/report/json.h"
#include "reader/report/redact.h"
#include "reader/report/text.h"
#include "reader/view/perfetto_export.h"

namespace cairn {
namespace {

// The bounds of docs/reference/bounds.md for a small file.
constexpr uint64_t kMostMemory = uint64_t{512} << 20;
constexpr uint64_t kMostOutput = uint64_t{512} << 20;

constexpr size_t kForms = 6;
constexpr size_t kBuckets = 64;
// For each form of output, the logarithm of the output and of the memory for each byte of the file, in quarters.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t g_output[kForms][kBuckets];
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t g_memory[kForms][kBuckets];

std::atomic<int64_t> g_live{0};
std::atomic<int64_t> g_peak{0};

void OnMalloc(const volatile void*, size_t size) {
  const int64_t live = g_live.fetch_add(static_cast<int64_t>(size)) + static_cast<int64_t>(size);
  if (live > g_peak.load()) g_peak.store(live);
}
void OnFree(const volatile void* pointer) {
  if (pointer == nullptr) return;
  g_live.fetch_sub(
      static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(pointer))));
}

void Count(uint64_t cost, uint64_t file_bytes, uint8_t (&buckets)[kBuckets]) {
  const uint64_t ratio = cost / std::max<uint64_t>(file_bytes, 1) + 1;
  const auto whole = static_cast<uint64_t>(std::bit_width(ratio) - 1);
  const uint64_t quarter = whole < 2 ? 0 : (ratio >> (whole - 2)) & 3;
  buckets[std::min<uint64_t>(whole * 4 + quarter, kBuckets - 1)] = 1;
}

void Measure(size_t form, uint64_t file_bytes, const std::function<uint64_t()>& print) {
  const int64_t before = g_live.load();
  g_peak.store(before);
  const uint64_t output = print();
  const auto memory = static_cast<uint64_t>(g_peak.load() - before);
  Count(output, file_bytes, g_output[form]);
  Count(memory, file_bytes, g_memory[form]);
  if (file_bytes > kSmallFileBytes || (output <= kMostOutput && memory <= kMostMemory)) return;
  std::fprintf(stderr, "form %zu: a file of %llu bytes gives %llu, and takes %llu of memory\n",
               form, static_cast<unsigned long long>(file_bytes),
               static_cast<unsigned long long>(output), static_cast<unsigned long long>(memory));
  std::abort();
}

uint64_t TextBytes(const Snapshot& snapshot, uint32_t flags) {
  TextOptions options;
  options.print_flags = flags;
  return TextReport(snapshot, AnalyseDump(snapshot), options).size();
}

uint64_t JsonBytes(const Snapshot& snapshot) {
  uint64_t bytes = 0;
  WriteJsonReport(snapshot, AnalyseDump(snapshot), [&bytes](std::string_view piece) {
    bytes += piece.size();
    return true;
  });
  return bytes;
}

uint64_t ExportBytes(const Snapshot& snapshot) {
  uint64_t bytes = 0;
  ExportDump(snapshot, [&bytes](std::string_view piece) {
    bytes += piece.size();
    return true;
  });
  return bytes;
}

// The beginning of an input; numbers are made of the rest.
struct Recipe {
  uint32_t tables;  // a bit for each
  uint32_t rows;
  uint32_t inner_rows;
  uint32_t events;
  uint16_t name_bytes;
  uint8_t name;  // what it is made of
  uint8_t incident;
};

class ChunkTypes {
 public:
  template <typename T>
  void Table(const TableFacts& facts, std::vector<T>&) {
    all.push_back(facts.chunk);
  }
  void EventColumns(std::vector<Event>&) {}
  std::vector<ChunkType> all;
};

Snapshot Cook(const Recipe& recipe, std::span<const uint8_t> bytes) {
  // Few rows, so that one input takes seconds with sanitizers: only the cost of one more row
  // matters.
  constexpr uint32_t kMostRows = 128;
  constexpr uint32_t kMostInnerRows = 16;
  constexpr uint32_t kMostNameBytes = 512;
  Snapshot snapshot;
  ChunkTypes types;
  VisitTables(types, snapshot);
  std::vector<ChunkType> chosen = {kDeviceChunk, kQueueChunk};
  for (size_t i = 0; i < types.all.size(); ++i) {
    if ((recipe.tables >> i & 1) != 0) chosen.push_back(types.all[i]);
  }
  Incident incident;
  incident.kind = static_cast<IncidentKind>(recipe.incident % 6);
  snapshot.incidents.push_back(incident);
  const uint32_t events = recipe.events % (4 * kMostRows);
  for (uint32_t i = 0; i < events; ++i) {
    Event event;
    const uint8_t byte = bytes.empty() ? 0 : bytes[i % bytes.size()];
    event.kind = (byte & 1) != 0 ? EventKind::kEnd : EventKind::kBegin;
    event.match = event.kind == EventKind::kEnd ? kMatchInnermost : 0;
    event.flags = byte >> 4;
    event.type = event.kind == EventKind::kEnd ? 0 : byte >> 2 & 3;
    snapshot.events.push_back(event);
  }
  TableFiller filler(
      &snapshot, recipe.rows % kMostRows, recipe.inner_rows % kMostInnerRows,
      std::string(recipe.name_bytes % kMostNameBytes, static_cast<char>(recipe.name)));
  filler.Choose(std::move(chosen));
  filler.Vary(bytes);
  VisitTables(filler, snapshot);
  if (!snapshot.recordings.empty()) snapshot.recordings.front().event_count = events;
  return snapshot;
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  [[maybe_unused]] static const int installed =
      __sanitizer_install_malloc_and_free_hooks(&OnMalloc, &OnFree);
  Recipe recipe;
  if (size < sizeof(recipe)) return 0;
  std::memcpy(&recipe, data, sizeof(recipe));
  // A table of inner rows for each row would cost the fuzzer alone too much.
  recipe.inner_rows %= (1u << 15) / (recipe.rows % (1u << 14) + 1) + 1;
  const std::vector<std::byte> bytes = SnapshotFileBytes(
      Cook(recipe, std::span(data, size).subspan(sizeof(recipe))), Compression::kZstdSmall);
  const Result<FileReader> file = FileReader::FromBytes(bytes);
  if (!file.ok()) return 0;
  Result<Snapshot> read = Snapshot();
  Measure(0, bytes.size(), [&] {
    read = ReadSnapshot(*file);
    return uint64_t{0};
  });
  if (!read.ok()) return 0;
  Measure(1, bytes.size(), [&] { return TextBytes(*read, 0); });
  Measure(2, bytes.size(), [&] {
    return TextBytes(*read, CAIRN_PRINT_FINISHED_LISTS | CAIRN_PRINT_NOT_STARTED_LISTS |
                                CAIRN_PRINT_FINISHED_NODES | CAIRN_PRINT_NOT_STARTED_NODES |
                                CAIRN_PRINT_EXTENDED_DEVICE_INFO);
  });
  Measure(3, bytes.size(), [&] { return JsonBytes(*read); });
  Measure(4, bytes.size(), [&] { return ExportBytes(*read); });
  Measure(5, bytes.size(), [&] { return JsonBytes(Redact(std::move(*read))); });
  return 0;
}
