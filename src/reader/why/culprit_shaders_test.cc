// SPDX-License-Identifier: Apache-2.0
#include "reader/why/culprit_shaders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "reader/analysis/testing/snapshot_builder.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Two draws in flight, and a barrier behind them.
class CulpritShadersTest : public ::testing::Test {
 protected:
  CulpritShadersTest() {
    const uint32_t queue = builder_.AddQueue();
    const uint32_t list = builder_.BeginList(queue);
    builder_.Scope(CAIRN_MARKER_DRAW);
    builder_.Scope(CAIRN_MARKER_DRAW);
    builder_.Scope(CAIRN_MARKER_BARRIER);
    builder_.EndList();
    builder_.Submit(queue, list);
    builder_.SetWords(list, 6, 0);
    snapshot().incidents.push_back({.kind = IncidentKind::kHang, .value = 2000});
    snapshot().devices[0].api = Api::kVulkan;
    for (uint64_t i = 0; i < 2; ++i) {
      Pipeline pipeline;
      pipeline.device = 0;
      pipeline.shader_hashes[kStageVertex] = 0xa0;
      pipeline.shader_hashes[kStagePixel] = 0xb1 - i;
      snapshot().pipelines.push_back(pipeline);
      snapshot().events[2 * i].pipeline = static_cast<uint32_t>(i);
    }
  }
  Snapshot& snapshot() { return builder_.snapshot; }
  std::vector<uint64_t> Shaders() { return CulpritShaders(snapshot(), AnalyseDump(snapshot())); }

  SnapshotBuilder builder_;
};

TEST_F(CulpritShadersTest, ThoseOfAllSuspectsOnce) {
  EXPECT_EQ(3u, AnalyseDump(snapshot()).culprit.suspects.size());
  EXPECT_THAT(Shaders(), ElementsAre(0xa0, 0xb0, 0xb1));
}

TEST_F(CulpritShadersTest, NoneIfOneIsNotKnown) {
  snapshot().events[0].pipeline = kNone;
  EXPECT_THAT(Shaders(), IsEmpty());
  snapshot().events[0].pipeline = 0;
  snapshot().pipelines[0].shader_hashes = {};
  EXPECT_THAT(Shaders(), IsEmpty());
  snapshot().pipelines[0].shader_hashes[kStageRayTracing] = 0xc0;
  EXPECT_THAT(Shaders(), IsEmpty());
}

// The layer finds what was made of them.
TEST_F(CulpritShadersTest, ThoseOfDirect3D12ByTheirDxbc) {
  snapshot().devices[0].api = Api::kD3D12;
  for (Pipeline& pipeline : snapshot().pipelines) {
    pipeline.shader_names[kStageVertex] = snapshot().AddText("00000000000000a0");
  }
  EXPECT_THAT(Shaders(), ElementsAre(0, 0xa0, 0xb0, 0xb1));
  // Code that nobody has signed has no hash, and may be the one.
  snapshot().pipelines[1].shader_names[kStageGeometry] = snapshot().AddText("shader");
  EXPECT_THAT(Shaders(), IsEmpty());
}

TEST_F(CulpritShadersTest, NoneOfDirect3D11) {
  snapshot().devices[0].api = Api::kD3D11;
  EXPECT_THAT(Shaders(), IsEmpty());
  snapshot().devices[0].api = Api::kVulkan;
  snapshot().pipelines[1].device = kNone;
  EXPECT_THAT(Shaders(), IsEmpty());
}

TEST_F(CulpritShadersTest, PipelinesHaveTheNameOfTheFirstSuspect) {
  Pipeline other;
  other.name = snapshot().AddText("Other");
  other.shader_hashes[kStageVertex] = 0xa0;
  other.shader_hashes[kStagePixel] = 0xc0;
  snapshot().pipelines[0].name = snapshot().AddText("Fog");
  snapshot().pipelines[1].name = snapshot().AddText("Smoke");
  snapshot().pipelines.push_back(other);
  const Findings findings = AnalyseDump(snapshot());
  const SuspectWork& first = findings.culprit.suspects[0];
  const uint32_t pipeline = PipelineOf(snapshot(), findings.analysis.scopes[first.scope]);
  const std::string name(snapshot().Text(snapshot().pipelines[pipeline].name));
  EXPECT_THAT(
      PipelinesOfShaders(snapshot(), findings),
      ElementsAre(Pair(0xa0, name), Pair(0xb0, "Smoke"), Pair(0xb1, "Fog"), Pair(0xc0, "Other")));
}

TEST_F(CulpritShadersTest, NoneWithoutSuspects) {
  snapshot().incidents.clear();
  EXPECT_THAT(CulpritShaders(snapshot(), Findings()), IsEmpty());
}

}  // namespace
}  // namespace cairn
