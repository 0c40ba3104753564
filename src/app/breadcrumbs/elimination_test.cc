// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/elimination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "format/elimination/catalogue.h"
#include "format/elimination/work_key.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EliminationTest : public ::testing::Test {
 protected:
  EliminationTest() {
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kMinBlockBytes);
    EXPECT_TRUE(block.ok());
    block_ = std::move(*block);
    Ask({});
  }

  void Ask(const BoardQuestion& question) {
    memory_.assign(Board::BytesFor(question.listed.size(), 64, 4096), std::byte{0});
    run_ = std::make_unique<Elimination>(Board::Make(memory_, question, 64, 4096));
    list_ = std::make_unique<ListElimination>(*run_);
    list_->Start();
  }

  CairnPipeline AddPipeline(const char* name, uint64_t hash) {
    const uint32_t index = block_->AddPipeline();
    PipelineRecord& record = block_->pipelines()[index];
    record.name = block_->AddName(name);
    record.shader_names[kStageCompute] = block_->AddName("main");
    record.shader_hashes[kStageCompute] = hash;
    record.state.store(1);
    return index + 1;
  }

  bool LeavesOut(CairnMarkerType type, CairnPipeline pipeline = 0) {
    return list_->LeavesOut(type, pipeline, *block_);
  }

  std::vector<WorkNote> Met() {
    const Result<WorkCatalogue> catalogue = ReadCatalogue(memory_);
    EXPECT_TRUE(catalogue.ok());
    return catalogue.ok() ? catalogue->work : std::vector<WorkNote>();
  }

  std::unique_ptr<BlockWriter> block_;
  std::vector<std::byte> memory_;
  std::unique_ptr<Elimination> run_;
  std::unique_ptr<ListElimination> list_;
};

TEST_F(EliminationTest, WorkIsKnownByLabelsTypePipelineAndOrdinal) {
  const CairnPipeline pipeline = AddPipeline("Integrate", 7);
  list_->Begin("Frame");
  list_->Begin("Simulate");
  EXPECT_FALSE(LeavesOut(CAIRN_MARKER_DISPATCH, pipeline));
  EXPECT_FALSE(LeavesOut(CAIRN_MARKER_PIPELINE_BARRIER));
  EXPECT_FALSE(LeavesOut(CAIRN_MARKER_DISPATCH, pipeline));
  list_->End();
  list_->End();
  list_->End();  // one too many is ignored
  const std::vector<WorkNote> met = Met();
  ASSERT_EQ(2u, met.size());
  const uint64_t scope = ScopeIn(ScopeIn(kRootScope, "Frame"), "Simulate");
  for (const WorkNote& note : met) {
    EXPECT_EQ(scope, note.scope);
    EXPECT_EQ(met[0].group, note.group);
    EXPECT_EQ(KeyIn(note.group, note.ordinal), note.key);
    EXPECT_THAT(note.path, ElementsAre("Frame", "Simulate"));
    EXPECT_EQ("Integrate [main]", note.pipeline);
    EXPECT_EQ(1u, note.recorded);
    EXPECT_EQ(0u, note.submitted);
  }
  EXPECT_EQ(3u, met[0].ordinal + met[1].ordinal);
}

// Numbers of pipelines, and the order of their creation, differ from run to run.
TEST_F(EliminationTest, PipelinesAreKnownByNamesAndCode) {
  const CairnPipeline one = AddPipeline("Integrate", 7);
  const CairnPipeline other = AddPipeline("Integrate", 8);
  const CairnPipeline again = AddPipeline("Integrate", 7);
  LeavesOut(CAIRN_MARKER_DISPATCH, one);
  LeavesOut(CAIRN_MARKER_DISPATCH, other);
  LeavesOut(CAIRN_MARKER_DISPATCH, again);
  EXPECT_EQ(3u, Met().size());
  list_->Start();
  LeavesOut(CAIRN_MARKER_DISPATCH, again);
  EXPECT_EQ(3u, Met().size());
}

TEST_F(EliminationTest, EveryRecordingCountsFromOne) {
  for (int i = 0; i < 5; ++i) {
    list_->Start();
    LeavesOut(CAIRN_MARKER_DRAW);
    LeavesOut(CAIRN_MARKER_DRAW);
    list_->Submitted();
  }
  list_->Submitted();
  const std::vector<WorkNote> met = Met();
  ASSERT_EQ(2u, met.size());
  for (const WorkNote& note : met) {
    EXPECT_EQ(5u, note.recorded);
    EXPECT_EQ(6u, note.submitted);
    EXPECT_EQ(6u, note.last_submission);
    EXPECT_EQ(note.ordinal, note.last_position);
    EXPECT_THAT(note.path, IsEmpty());
  }
}

TEST_F(EliminationTest, WhatIsAskedForGoesAndIsStillCounted) {
  BoardQuestion question;
  question.rules[static_cast<size_t>(LeaveOutClass::kShader)] = LeaveOut::kUnlisted;
  question.listed = {KeyIn(GroupIn(kRootScope, CAIRN_MARKER_DRAW, 0), 2)};
  Ask(question);
  EXPECT_TRUE(LeavesOut(CAIRN_MARKER_DRAW));
  EXPECT_FALSE(LeavesOut(CAIRN_MARKER_DRAW));
  EXPECT_TRUE(LeavesOut(CAIRN_MARKER_DRAW));
  EXPECT_FALSE(LeavesOut(CAIRN_MARKER_COPY_BUFFER));
  EXPECT_FALSE(LeavesOut(CAIRN_MARKER_BEGIN_RENDERING));
  list_->Submitted();
  uint64_t submitted = 0;
  for (const WorkNote& note : Met()) {
    EXPECT_EQ(1u, note.recorded);
    if (note.submitted == 0) continue;
    ++submitted;
    EXPECT_TRUE(note.key == question.listed[0] || note.type == CAIRN_MARKER_COPY_BUFFER);
  }
  EXPECT_EQ(2u, submitted);
  EXPECT_EQ(2u, run_->board().header().left_out.load());
}

TEST_F(EliminationTest, WorkThatFindsNoRoomIsCountedAndObeysAllTheSame) {
  BoardQuestion question;
  question.rules[static_cast<size_t>(LeaveOutClass::kShader)] = LeaveOut::kAll;
  Ask(question);
  for (int i = 0; i < 70; ++i) EXPECT_TRUE(LeavesOut(CAIRN_MARKER_DRAW));
  EXPECT_EQ(64u, Met().size());
  EXPECT_EQ(6u, run_->board().header().dropped.load());
}

TEST_F(EliminationTest, FramesThatCountRecordTheSameWork) {
  for (const char* frame : {"Frame 1", "Frame 2", "Frame 10"}) {
    list_->Start();
    list_->Begin(frame);
    LeavesOut(CAIRN_MARKER_DRAW);
    list_->End();
  }
  const std::vector<WorkNote> met = Met();
  ASSERT_EQ(1u, met.size());
  EXPECT_EQ(3u, met[0].recorded);
  EXPECT_THAT(met[0].path, ElementsAre("Frame #"));
}

TEST_F(EliminationTest, DevicesAreNamedOnce) {
  run_->NoteDevice("Big GPU");
  run_->NoteDevice("A little GPU");
  run_->NoteDevice("Big GPU");
  EXPECT_THAT(ReadCatalogue(memory_)->devices, ElementsAre("A little GPU", "Big GPU"));
}

TEST_F(EliminationTest, ScopesWithoutANameAreScopes) {
  list_->Begin("");
  LeavesOut(CAIRN_MARKER_DRAW);
  list_->Begin("Inner");
  LeavesOut(CAIRN_MARKER_DRAW);
  list_->End();
  list_->End();
  LeavesOut(CAIRN_MARKER_DRAW);
  const std::vector<WorkNote> met = Met();
  ASSERT_EQ(3u, met.size());
  EXPECT_NE(met[0].scope, met[1].scope);
  EXPECT_NE(met[1].scope, met[2].scope);
  EXPECT_NE(met[0].scope, met[2].scope);
}

}  // namespace
}  // namespace cairn
