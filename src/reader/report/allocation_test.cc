// SPDX-License-Identifier: Apache-2.0
//
// A report is printed while the process crashes: how often memory is allocated must not depend on the
// number of markers. A program of its own, because it replaces operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "cairn/marker_types.h"

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/analysis/findings.h"
#include "reader/report/text.h"

namespace {

size_t g_allocations = 0;

void* Allocate(size_t size) {
  ++g_allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t size) {
  return Allocate(size);
}
void* operator new[](size_t size) {
  return Allocate(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++g_allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace cairn {
namespace {

struct Counts {
  size_t snapshot = 0;
  size_t findings = 0;
  size_t report = 0;
};

Counts CountAllocations(uint32_t scope_count, uint32_t print_flags) {
  TestBlock block(64 << 20);
  FillLargeBlock(&block, scope_count);
  Counts counts;
  size_t before = g_allocations;
  const Result<Snapshot> snapshot = SnapshotFromBlock(block.bytes(), 1);
  counts.snapshot = g_allocations - before;
  EXPECT_TRUE(snapshot.ok());
  EXPECT_EQ(snapshot->events.size(), 2 * scope_count);
  before = g_allocations;
  const Findings findings = AnalyseDump(*snapshot);
  counts.findings = g_allocations - before;
  before = g_allocations;
  const std::string text = TextReport(*snapshot, findings, {.print_flags = print_flags});
  counts.report = g_allocations - before;
  EXPECT_NE(text.find("[>] DRAW_INDEXED"), std::string::npos);
  return counts;
}

TEST(KnownFailure, 10_PrintingDoesNotAllocatePerMarker) {
  for (uint32_t flags : {0u, 0xFu}) {
    const Counts few = CountAllocations(100, flags);
    const Counts many = CountAllocations(10'000, flags);
    EXPECT_EQ(many.snapshot, few.snapshot);
    EXPECT_EQ(many.findings, few.findings);
    EXPECT_EQ(many.report, few.report);
    EXPECT_LT(many.report, 100u);
  }
}

// The same of what a list binds, which is read into a table of its own.
TEST(KnownFailure, 10_BindingsAreReadWithoutAllocations) {
  const auto count = [](uint32_t draws) {
    TestBlock block(64 << 20);
    const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "Main");
    for (uint32_t i = 0; i < draws; ++i) {
      block.BindAddress(list, BindPoint::kVertexBuffer, 0, 0x1000 + i);
      block.Scope(list, CAIRN_MARKER_DRAW_INSTANCED);
    }
    const size_t before = g_allocations;
    const Result<Snapshot> snapshot = SnapshotFromBlock(block.bytes(), 1);
    EXPECT_EQ(snapshot->binds.size(), draws);
    return g_allocations - before;
  };
  EXPECT_EQ(count(10'000), count(100));
}

}  // namespace
}  // namespace cairn
