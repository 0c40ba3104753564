// SPDX-License-Identifier: Apache-2.0
#include "reader/report/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cairn/marker_types.h"

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/report/redact.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

Signature Sign(const Snapshot& snapshot) {
  return SignatureOf(snapshot, AnalyseDump(snapshot));
}

// One frame with draws in a pass; the last one does not end.
Snapshot Hang(const std::string& frame, const std::string& pass, uint32_t draws_before = 2) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "Graphics");
  const uint32_t fog = block.AddPipeline(context, "Volumetric fog");
  block.SetShader(fog, kStagePixel, "FogPS 2");
  const TestBlock::List list = block.AddList(context, queue, 5, "Main");
  const uint32_t outer = block.Begin(list, CAIRN_MARKER_PASS, frame.c_str());
  const uint32_t inner = block.Begin(list, CAIRN_MARKER_PASS, pass.c_str());
  for (uint32_t i = 0; i <= draws_before; ++i) {
    block.Scope(list, CAIRN_MARKER_DRAW_INSTANCED, "", fog);
  }
  block.End(list, inner);
  block.End(list, outer);
  block.Close(list);
  block.Submit(queue, list);
  const uint32_t culprit = 3 + 2 * draws_before;
  block.SetProgress(list, culprit, culprit - 1);
  Snapshot snapshot =
      std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000).value());
  snapshot.incidents = {{.kind = IncidentKind::kHang, .value = 2000, .queue = queue}};
  return snapshot;
}

TEST(Signature, SaysWhatWhereAndOnWhat) {
  const Snapshot snapshot = Hang("Frame 7", "Lighting");
  const Signature signature = Sign(snapshot);
  EXPECT_EQ(signature.kind, "GPU hang");
  EXPECT_EQ(signature.cause, "");
  EXPECT_THAT(signature.path, ElementsAre("Frame #", "Lighting", "DRAW_INSTANCED"));
  EXPECT_EQ(PathOf(signature), "Frame # > Lighting > DRAW_INSTANCED");
  EXPECT_THAT(signature.shaders, ElementsAre("FogPS 2"));
  EXPECT_EQ(signature.device, snapshot.Text(snapshot.devices[0].name));
  EXPECT_EQ(signature.driver, snapshot.Text(snapshot.devices[0].driver));
  EXPECT_THAT(signature.id, MatchesRegex("\\w+"));
  EXPECT_EQ(signature.id.size(), 16u);
}

TEST(Signature, NumbersAndTheRestOfTheFrameDoNotCount) {
  const std::string id = Sign(Hang("Frame 7", "Lighting")).id;
  EXPECT_EQ(Sign(Hang("Frame 1204", "Lighting")).id, id);
  EXPECT_EQ(Sign(Hang("Frame 7", "Lighting", 5)).id, id);
  EXPECT_NE(Sign(Hang("Frame 7", "Shadows")).id, id);
  Snapshot lost = Hang("Frame 7", "Lighting");
  lost.incidents = {{.kind = IncidentKind::kDeviceLost, .value = -4}};
  const Signature other = Sign(lost);
  EXPECT_EQ(other.cause, "VK_ERROR_DEVICE_LOST");
  EXPECT_NE(other.id, id);
  Snapshot newer = Hang("Frame 7", "Lighting");
  newer.devices[0].driver = newer.AddText("another driver");
  EXPECT_NE(Sign(newer).id, id);
}

TEST(Signature, RedactedDumpsOfOneFaultStayTogether) {
  const Signature one = Sign(Redact(Hang("Frame", "Lighting")));
  EXPECT_EQ(one.id, Sign(Redact(Hang("Frame", "Lighting", 4))).id);
  EXPECT_NE(one.id, Sign(Redact(Hang("Frame", "Shadows"))).id);
  EXPECT_THAT(one.path,
              ElementsAre(MatchesRegex("name-\\w+"), MatchesRegex("name-\\w+"), "DRAW_INSTANCED"));
}

TEST(Signature, OfNothing) {
  const Signature signature = Sign(Snapshot());
  EXPECT_EQ(signature.kind, "nothing wrong");
  EXPECT_THAT(signature.path, IsEmpty());
  EXPECT_EQ(signature.device, "");
}

}  // namespace
}  // namespace cairn
