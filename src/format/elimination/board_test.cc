// SPDX-License-Identifier: Apache-2.0
#include "format/elimination/board.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "cairn/marker_types.h"

#include "format/elimination/work_key.h"

namespace cairn {
namespace {

std::vector<std::byte> MemoryFor(const BoardQuestion& question, uint32_t entries, uint32_t text) {
  return std::vector<std::byte>(Board::BytesFor(question.listed.size(), entries, text));
}

TEST(LeaveOutClass, WhatSetsStateStays) {
  EXPECT_EQ(LeaveOutClass::kShader, LeaveOutClassOf(CAIRN_MARKER_DRAW));
  EXPECT_EQ(LeaveOutClass::kShader, LeaveOutClassOf(CAIRN_MARKER_DISPATCH));
  EXPECT_EQ(LeaveOutClass::kCopy, LeaveOutClassOf(CAIRN_MARKER_COPY_BUFFER));
  EXPECT_EQ(LeaveOutClass::kCopy, LeaveOutClassOf(CAIRN_MARKER_CLEAR_RENDER_TARGET));
  for (const uint32_t type :
       {uint32_t{CAIRN_MARKER_PASS}, uint32_t{CAIRN_MARKER_PIPELINE_BARRIER},
        uint32_t{CAIRN_MARKER_RESOURCE_BARRIER}, uint32_t{CAIRN_MARKER_BEGIN_RENDERING},
        uint32_t{CAIRN_MARKER_END_RENDER_PASS}, uint32_t{CAIRN_MARKER_EXECUTE_COMMANDS},
        uint32_t{CAIRN_MARKER_WAIT_EVENTS}, uint32_t{CAIRN_MARKER_WRITE_BUFFER_IMMEDIATE},
        uint32_t{CAIRN_MARKER_RESET_QUERY_POOL}, uint32_t{CAIRN_MARKER_OTHER_WORK}, 1023u}) {
    EXPECT_EQ(LeaveOutClass::kStays, LeaveOutClassOf(type)) << type;
  }
}

// Files and journals hold them.
TEST(WorkKey, IsTheSameInEveryVersion) {
  const uint64_t scope = ScopeIn(ScopeIn(kRootScope, "Frame"), "Shadow");
  const uint64_t key = KeyIn(GroupIn(scope, CAIRN_MARKER_DRAW, 7), 2);
  EXPECT_EQ(0xb409a1fa7ee3da21u, scope);
  EXPECT_EQ(0x29258efb3704b271u, key);
  EXPECT_NE(ScopeIn(kRootScope, ""), kRootScope);
  EXPECT_NE(ScopeIn(kRootScope, "ab"), ScopeIn(ScopeIn(kRootScope, "a"), "b"));
}

TEST(WorkKey, LabelsThatCountAreTheSameLabel) {
  EXPECT_EQ("Frame #", WithoutNumbers("Frame 4711"));
  EXPECT_EQ("# of #, R#G#", WithoutNumbers("0x7f3a of 12, R11G10"));
  EXPECT_EQ("#x, #xg, #", WithoutNumbers("0x, 0xg, 7"));
  EXPECT_EQ("Shadow", WithoutNumbers("Shadow"));
  EXPECT_EQ("", WithoutNumbers(""));
}

TEST(Board, RulesDecideByKeyGroupAndScope) {
  BoardQuestion question;
  question.rules = {LeaveOut::kNothing, LeaveOut::kUnlisted, LeaveOut::kListed};
  question.listed = {10, 20, 30};
  std::vector<std::byte> memory = MemoryFor(question, 4, 64);
  const Board board = Board::Make(memory, question, 4, 64);
  const auto leaves_out = [&](LeaveOutClass work, uint64_t scope, uint64_t group, uint64_t key) {
    return board.LeavesOut(work, scope, group, key);
  };
  EXPECT_FALSE(leaves_out(LeaveOutClass::kShader, 10, 2, 3));
  EXPECT_FALSE(leaves_out(LeaveOutClass::kShader, 1, 20, 3));
  EXPECT_FALSE(leaves_out(LeaveOutClass::kShader, 1, 2, 30));
  EXPECT_TRUE(leaves_out(LeaveOutClass::kShader, 1, 2, 3));
  EXPECT_TRUE(leaves_out(LeaveOutClass::kCopy, 1, 20, 3));
  EXPECT_FALSE(leaves_out(LeaveOutClass::kCopy, 1, 2, 3));
  EXPECT_FALSE(leaves_out(LeaveOutClass::kStays, 1, 2, 3));
}

TEST(Board, AFullTableTakesNoMore) {
  std::vector<std::byte> memory = MemoryFor({}, 2, 0);
  const Board board = Board::Make(memory, {}, 2, 0);
  bool is_new = false;
  WorkEntry* const one = board.FindOrAdd(5, &is_new);
  EXPECT_TRUE(is_new);
  EXPECT_NE(one, board.FindOrAdd(7, &is_new));
  EXPECT_TRUE(is_new);
  EXPECT_EQ(one, board.FindOrAdd(5, &is_new));
  EXPECT_FALSE(is_new);
  EXPECT_EQ(nullptr, board.FindOrAdd(6, &is_new));
  EXPECT_FALSE(is_new);
}

TEST(Board, TextsComeBackAndLongOnesAreCut) {
  std::vector<std::byte> memory = MemoryFor({}, 0, 4096);
  const Board board = Board::Make(memory, {}, 0, 4096);
  const TextOffset hello = board.AddText("hello");
  const TextOffset nothing = board.AddText("");
  const TextOffset long_one = board.AddText(std::string(5000, 'x'));
  EXPECT_EQ("hello", board.TextAt(hello));
  EXPECT_NE(0u, nothing);
  EXPECT_EQ("", board.TextAt(nothing));
  EXPECT_EQ(std::string(kMaxBoardText, 'x'), board.TextAt(long_one));
  EXPECT_NE(0u, board.AddText(std::string(2000, 'y')));
  EXPECT_EQ(0u, board.AddText(std::string(200, 'z')));
  EXPECT_EQ("", board.TextAt(4095));
  EXPECT_EQ("", board.TextAt(4096));
  EXPECT_EQ("", board.TextAt(~0u));
}

TEST(Board, ThreadsAgreeWhoseAnEntryIs) {
  constexpr uint64_t kKeys = 1000;
  std::vector<std::byte> memory = MemoryFor({}, 1024, 0);
  const Board board = Board::Make(memory, {}, 1024, 0);
  std::atomic<uint64_t> made{0};
  const auto add_all = [&] {
    for (uint64_t key = 1; key <= kKeys; ++key) {
      bool is_new = false;
      WorkEntry* const entry = board.FindOrAdd(MixedWith(1, key), &is_new);
      ASSERT_NE(nullptr, entry);
      made += is_new ? 1 : 0;
      entry->recorded.fetch_add(1);
    }
  };
  std::thread other(add_all);
  add_all();
  other.join();
  EXPECT_EQ(kKeys, made.load());
  for (const WorkEntry& entry : board.entries()) {
    EXPECT_EQ(entry.key.load() == 0 ? 0u : 2u, entry.recorded.load());
  }
}

TEST(Board, DamageIsSeen) {
  BoardQuestion question;
  question.listed = {1, 2};
  std::vector<std::byte> good = MemoryFor(question, 3, 100);
  Board::Make(good, question, 3, 100);
  ASSERT_TRUE(Board::Over(good).ok());
  const auto damaged = [&](auto change) {
    std::vector<std::byte> bytes = good;
    change(*reinterpret_cast<BoardHeader*>(bytes.data()), bytes);
    const Result<Board> board = Board::Over(bytes);
    return !board.ok() && board.status().code() == StatusCode::kCorrupt;
  };
  EXPECT_TRUE(damaged([](auto&, auto& bytes) { bytes.clear(); }));
  EXPECT_TRUE(damaged([](auto&, auto& bytes) { bytes.pop_back(); }));
  EXPECT_TRUE(damaged([](auto& header, auto&) { header.magic = 0; }));
  EXPECT_TRUE(damaged([](auto& header, auto&) { header.version = 2; }));
  EXPECT_TRUE(damaged([](auto& header, auto&) { header.entry_count = ~0u; }));
  EXPECT_TRUE(damaged([](auto& header, auto&) { header.text_bytes += 1; }));
  EXPECT_TRUE(damaged([](auto& header, auto&) { header.rules[1] = 4; }));
  EXPECT_TRUE(damaged([](auto& header, auto&) { header.rules[0] = 1; }));
}

}  // namespace
}  // namespace cairn
