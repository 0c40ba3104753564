// SPDX-License-Identifier: Apache-2.0
#include "reader/report/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cairn/marker_types.h"

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// One pass with `draws` draws, of which none had completed.
Snapshot TakeDraws(int draws, const std::string& pass) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "Graphics");
  const TestBlock::List list = block.AddList(context, queue, 0, "Main");
  const uint32_t scope = block.Begin(list, CAIRN_MARKER_PASS, pass);
  for (int i = 0; i < draws; ++i) block.Scope(list, CAIRN_MARKER_DRAW);
  block.End(list, scope);
  block.Close(list);
  block.Submit(queue, list);
  if (draws == 1) {
    block.SetProgress(list, 2, 1);
  } else {
    block.context(context).mode = MarkerMode::kTop;
    block.SetProgress(list, 1 + 2 * static_cast<uint32_t>(draws), 0);
  }
  Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  snapshot.process.command_line = snapshot.AddText("./game --token secret");
  snapshot.incidents = {{.kind = IncidentKind::kDeviceLost, .value = -4}};
  return snapshot;
}

std::string Markdown(const Snapshot& snapshot, std::string_view file = "game.cairn") {
  return MarkdownReport(snapshot, AnalyseDump(snapshot), file);
}

TEST(Markdown, TheAnswerForATracker) {
  const Snapshot snapshot = TakeDraws(1, "Opaque");
  EXPECT_EQ(Markdown(snapshot), R"(### `Device lost (VK_ERROR_DEVICE_LOST) in DRAW #1`

- **how sure** likely
- **where** `Opaque · command buffer 1 "Main" · submission 1 · queue 0 "Graphics" (graphics) · frame 0`
- **because** `the first work with a pipeline that has not completed`
- **device** `Test device, driver test driver 1.2`

Incidents:

- `The program reported that the device was lost: VK_ERROR_DEVICE_LOST (-4).`

Program: `demo`

The rest: `cairn report game.cairn`
)");
  EXPECT_THAT(Markdown(snapshot, ""), Not(HasSubstr("The rest")));
}

TEST(Markdown, SuspectsStandInAList) {
  const std::string text = Markdown(TakeDraws(6, "Opaque"));
  EXPECT_THAT(text,
              HasSubstr("\nSuspects, the most likely first:\n\n1. `frame 0: \"Main\" > Opaque > "));
  EXPECT_THAT(text, HasSubstr("\n4. `frame 0: \"Main\" > Opaque > "));
  EXPECT_THAT(text, Not(HasSubstr("\n5. ")));
  EXPECT_THAT(text, HasSubstr("\n\n… 2 more\n"));
}

TEST(Markdown, NamesCannotBecomeMarkup) {
  const std::string text =
      Markdown(TakeDraws(1, "</details> ``` @everyone [a](http://b) |\n# x` <img src=y>"));
  EXPECT_THAT(text, HasSubstr("- **where** ````</details> ``` @everyone [a](http://b) |\\x0a# x` "
                              "<img src=y> · command buffer 1"));
  EXPECT_THAT(Markdown(TakeDraws(1, "`")), HasSubstr("- **where** `` ` · command buffer 1"));
}

}  // namespace
}  // namespace cairn
