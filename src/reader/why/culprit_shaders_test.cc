// SPDX-License-Identifier: Apache-2.0
#include "reader/why/culprit_shaders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// The hashes of its report are those of DXBC or DXIL.
TEST_F(CulpritShadersTest, NoneOfAProgramOfDirect3D) {
  snapshot().devices[0].api = Api::kD3D12;
  EXPECT_THAT(Shaders(), IsEmpty());
  snapshot().devices[0].api = Api::kVulkan;
  snapshot().pipelines[1].device = kNone;
  EXPECT_THAT(Shaders(), IsEmpty());
}

TEST_F(CulpritShadersTest, NoneWithoutSuspects) {
  snapshot().incidents.clear();
  EXPECT_THAT(CulpritShaders(snapshot(), Findings()), IsEmpty());
}

}  // namespace
}  // namespace cairn
