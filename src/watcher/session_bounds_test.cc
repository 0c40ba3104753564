// SPDX-License-Identifier: Apache-2.0
//
// The bounds of a session that docs/reference/bounds.md states, and that need many processes to be met.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "format/block/block.h"
#include "watcher/session.h"
#include "watcher/testing/session_scene.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Makes the state of the process's block 16 MiB large.
void EnlargeState(Scene* scene, ProcessId id) {
  std::byte* const block = scene->world.processes[id].block.data();
  auto& header = *reinterpret_cast<BlockHeader*>(block);
  auto* const shaders = reinterpret_cast<ShaderRecord*>(block + header.shaders_offset);
  for (uint64_t i = 0; i < 4; ++i) {  // the same bytes, four times
    shaders[i].code = ShaderCode::kSpirV;
    shaders[i].hash = i + 1;
    shaders[i].size_bytes = uint64_t{4} << 20;
    shaders[i].offset = uint64_t{header.first_free_page} * kPageBytes;
    shaders[i].state = 1;
  }
  header.shader_count = 4;
}

// The fourth is beyond the bound: its report tells the state at the end. A small one finds room behind it.
TEST(SessionBounds, StatesOfWhoIsEndingAreKeptUpToABound) {
  Scene scene;
  scene.StartGame();
  scene.Block(kGame);
  for (ProcessId id = kGame; id < kGame + 5; ++id) {
    if (id != kGame) scene.Block(id);
    if (id != kGame + 4) EnlargeState(&scene, id);
    scene.world.processes[id].condition = ProcessCondition::kEnding;
    scene.Pass(kSecond);
  }
  scene.Pass(6 * kSecond);
  std::map<ProcessId, bool> kept;
  for (const FakeReport& report : scene.world.reports) kept[report.process] = report.of_kept_state;
  EXPECT_THAT(kept, ElementsAre(Pair(kGame, true), Pair(kGame + 1, true), Pair(kGame + 2, true),
                                Pair(kGame + 3, false), Pair(kGame + 4, true)));
  EXPECT_EQ(kMostKeptBytes, uint64_t{64} << 20);
  for (ProcessId id = kGame; id < kGame + 5; ++id) scene.End(id, kSegv);
  EXPECT_TRUE(scene.session->Finished());
}

// Each of three processes replaces itself with others, and nothing of their captures comes to its end.
TEST(SessionBounds, WhileCapturesAreEndingNoMoreBeginThanIsAllowed) {
  Scene scene(Capturing());
  scene.world.capture_ends_slowly = true;
  scene.StartGame();
  for (ProcessId id = kGame; id < kGame + 3; ++id) {
    scene.world.processes[id];
    for (uint32_t i = 0; i <= kMaxPathsOfProcess; ++i) scene.Capture(id);
  }
  // The first and the second process have 16 captures that are ending each, and the first one that is not.
  EXPECT_EQ(scene.world.captures_begun, 33u);
  EXPECT_EQ(kMaxEndings, 32u);
  scene.session->SayLast();
  EXPECT_THAT(
      scene.lines,
      ElementsAre("! cairn: game (process 72) is not captured: too many processes are already",
                  "! cairn: 18 requests of processes to be watched were refused in all"));
  scene.world.capture_ends_slowly = false;
  for (ProcessId id = kGame; id < kGame + 3; ++id) scene.End(id, kExit);
  scene.Pass(kSecond);
  EXPECT_TRUE(scene.session->Finished());
}

// They ask to be captured, which costs the system nothing here: what they hand over is the same memory.
TEST(SessionBounds, ProcessesBeyondThoseThatMayBeWatchedAreTold) {
#ifdef CAIRN_SANITIZED
  GTEST_SKIP() << "memory is mapped 4,096 times";
#endif
  Scene scene(Capturing());
  scene.world.room = 2 * kMaxWatched;
  scene.StartGame();
  const ProcessId last = kGame + static_cast<ProcessId>(kMaxWatched);
  for (ProcessId id = kChild; id <= last; ++id) {
    scene.world.processes[id];
    scene.Capture(id);
  }
  EXPECT_EQ(scene.world.watched.size(), 4096u);
  EXPECT_EQ(scene.world.NumberOf(last), ~uint64_t{0});
  for (ProcessId id = kGame; id < last; ++id) scene.End(id, kExit);
  EXPECT_TRUE(scene.session->Finished());
}

}  // namespace
}  // namespace cairn
