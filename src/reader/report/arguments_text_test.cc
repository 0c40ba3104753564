// SPDX-License-Identifier: Apache-2.0
#include "reader/report/arguments_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cairn/marker_types.h"

#include "base/json_writer.h"
#include "format/block/indirect_values.h"
#include "format/block/work_arguments.h"
#include "format/snapshot/object_kinds.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/test_block.h"
#include "reader/analysis/arguments.h"
#include "reader/analysis/findings.h"
#include "reader/report/redact.h"
#include "reader/report/suspect_text.h"

namespace cairn {
namespace {

class ArgumentsTextTest : public ::testing::Test {
 protected:
  ArgumentsTextTest() : list_(block_.AddList(block_.AddContext(), kNoQueue, 1, "Main")) {}

  void Note(const ArgumentNumbers& numbers) {
    if (numbers.point == ArgumentsPoint::kNone) return;
    block_.BindAddress(list_, static_cast<BindPoint>(numbers.point), numbers.first, numbers.rest);
  }
  void Record(uint16_t type, const WorkArguments& arguments) {
    const uint32_t begin = block_.Begin(list_, type);
    Note(arguments.main);
    Note(arguments.more);
    block_.End(list_, begin);
  }
  Snapshot Take() { return std::move(SnapshotFromBlock(block_.bytes(), 1).value()); }
  // Returns the arguments of the first kBegin in words.
  static std::string Words(const Snapshot& snapshot) {
    std::string words;
    AppendArguments(snapshot, FirstBegin(snapshot), words);
    return words;
  }
  static std::string Json(const Snapshot& snapshot) {
    std::string json, scratch;
    JsonWriter writer(&json, JsonWriter::kOneLine);
    writer.BeginObject();
    WriteArguments(snapshot, FirstBegin(snapshot), scratch, &writer);
    writer.EndObject();
    return json;
  }
  static uint32_t FirstBegin(const Snapshot& snapshot) {
    uint32_t event = 0;
    while (snapshot.events[event].kind != EventKind::kBegin) ++event;
    return event;
  }
  std::string WordsOf(uint16_t type, const WorkArguments& arguments) {
    Record(type, arguments);
    return Words(Take());
  }

  TestBlock block_;
  TestBlock::List list_;
};

TEST_F(ArgumentsTextTest, Draw) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_DRAW, DrawArguments(0xFFFFFFFF, 1, 0, 0)),
            "(4294967295 vertices, 1 instance)");
  EXPECT_EQ(Json(Take()),
            R"x({"arguments":{"words":"(4294967295 vertices, 1 instance)","vertices":4294967295,)x"
            R"x("instances":1,"first_vertex":0,"first_instance":0}})x");
}

TEST_F(ArgumentsTextTest, DrawThatDoesNotBeginAtZero) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_DRAW, DrawArguments(1, 2, 7, 9)),
            "(1 vertex, 2 instances, first vertex 7, first instance 9)");
}

TEST_F(ArgumentsTextTest, IndexedDraw) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_DRAW_INDEXED, IndexedDrawArguments(36, 1, 6, -4, 0)),
            "(36 indices, 1 instance, first index 6, vertex offset -4)");
  EXPECT_EQ(
      Json(Take()),
      R"x({"arguments":{"words":"(36 indices, 1 instance, first index 6, vertex offset -4)",)x"
      R"x("indices":36,"instances":1,"first_index":6,"vertex_offset":-4,"first_instance":0}})x");
}

TEST_F(ArgumentsTextTest, Groups) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_DISPATCH, GroupArguments(300, 1, 1)), "(300, 1, 1)");
  EXPECT_EQ(Json(Take()), R"x({"arguments":{"words":"(300, 1, 1)","groups":[300,1,1]}})x");
}

TEST_F(ArgumentsTextTest, GroupsFromABase) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_DISPATCH_BASE, GroupArguments(4, 5, 6, 0, 0, 1)),
            "(4, 5, 6; from 0, 0, 1)");
}

TEST_F(ArgumentsTextTest, IndirectNamesItsBuffers) {
  const uint32_t buffer = block_.AddObject(0, kVulkanObject | 9, "Arguments", 1);
  const uint32_t counts = block_.AddObject(0, kVulkanObject | 9, "Counts", 1);
  block_.BindObject(list_, BindPoint::kIndirectArguments, 0, buffer);
  block_.BindObject(list_, BindPoint::kIndirectArguments, 1, counts);
  EXPECT_EQ(
      WordsOf(CAIRN_MARKER_DRAW_INDIRECT_COUNT, IndirectArguments(8, 64, 16, 4)),
      R"x((at most 8 commands from buffer "Arguments" + 0x40, stride 16, count from buffer "Counts" + 0x4))x");
  EXPECT_EQ(Json(Take()),
            R"x({"arguments":{"words":"(at most 8 commands from buffer \"Arguments\" + 0x40, )x"
            R"x(stride 16, count from buffer \"Counts\" + 0x4)","commands":8,"buffer":0,)x"
            R"x("offset":64,"stride":16,"count_buffer":1,"count_offset":4}})x");
}

TEST_F(ArgumentsTextTest, IndirectWithTheValuesThatLieThere) {
  const uint32_t begin = block_.Begin(list_, CAIRN_MARKER_DRAW_INDIRECT);
  Note(IndirectArguments(1, 64).main);
  Note(Three(kIndirectValues, 0xFEFEFEFE, 0xFEFEFEFE, 7));
  block_.End(list_, begin);
  EXPECT_EQ(Words(Take()),
            "(1 command from a buffer + 0x40, as they are now: 4278124286 vertices, 4278124286 "
            "instances, first vertex 7)");
  EXPECT_NE(Json(Take()).find(R"x("values":[4278124286,4278124286,7])x"), std::string::npos);
  EXPECT_EQ(SizeOfWork(ArgumentsOf(Take(), FirstBegin(Take()))), uint64_t{0xFEFEFEFE} * 0xFEFEFEFE);
}

// The values of a program that has ended are not read. Redact() replaces their address.
TEST_F(ArgumentsTextTest, IndirectWhoseValuesWereNotRead) {
  const uint32_t begin = block_.Begin(list_, CAIRN_MARKER_DISPATCH_INDIRECT);
  Note(IndirectArguments(1, 64).main);
  Note({kIndirectHostAddress, 0, 0x7FFF'1234'5678});
  block_.End(list_, begin);
  EXPECT_EQ(Words(Take()), "(1 command from a buffer + 0x40)");
  EXPECT_EQ(Redact(Take()).binds.back().value, 0x10000u);
}

TEST_F(ArgumentsTextTest, IndirectWithoutAKnownBuffer) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_DISPATCH_INDIRECT, IndirectArguments(1, 0)),
            "(1 command from a buffer + 0x0)");
}

TEST_F(ArgumentsTextTest, Copies) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_COPY_BUFFER, ByteArguments(3, 4096)), "(4096 bytes in 3 regions)");
}

TEST_F(ArgumentsTextTest, CopiesOfImages) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_COPY_IMAGE, TexelArguments(64, 32, 1, 2)),
            "(64 x 32 x 1, the first of 2 regions)");
}

TEST_F(ArgumentsTextTest, FillsToTheEnd) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_FILL_BUFFER, ByteArguments(1, UINT64_MAX)),
            "(to the end of the buffer)");
}

TEST_F(ArgumentsTextTest, OfAnotherCommandAreNotTaken) {
  block_.Scope(list_, CAIRN_MARKER_DRAW);
  Record(CAIRN_MARKER_DRAW, DrawArguments(3, 1, 0, 0));
  EXPECT_EQ(Words(Take()), "");
  EXPECT_EQ(Json(Take()), "{}");
}

// A marker of the application around two dispatches has no arguments of its own.
TEST_F(ArgumentsTextTest, OfSeveralCommandsInOneMarkerAreNotTold) {
  const uint32_t begin = block_.Begin(list_, CAIRN_MARKER_DISPATCH);
  Note(GroupArguments(1, 2, 3).main);
  Note(GroupArguments(4, 5, 6).main);
  block_.End(list_, begin);
  EXPECT_EQ(Words(Take()), "");
}

TEST_F(ArgumentsTextTest, OfANewerVersionAreNumbers) {
  EXPECT_EQ(WordsOf(CAIRN_MARKER_DRAW, {Three(static_cast<ArgumentsPoint>(47), 1, 2, 3), {}}),
            "(1, 2, 3)");
}

// From the block to the sentence: a fill of an earlier submission that has ended, and a dispatch before the draw that has
// the buffer bound through a set of an earlier submission, too.
TEST(ArgumentsOriginText, NamesWhoWroteThem) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "Graphics");
  const uint32_t buffer = block.AddObject(context, kVulkanBufferKind, "Draws", 1);
  const auto add_list = [&] { return block.AddList(context, queue, 0, "Main"); };
  const auto submit = [&](TestBlock::List list, uint32_t reached, uint32_t passed) {
    block.Close(list);
    block.Submit(queue, list);
    block.SetProgress(list, reached, passed);
  };
  const TestBlock::List upload = add_list();
  block.BindObject(upload, BindPoint::kDestination, 0, buffer);
  const uint32_t fill = block.Scope(upload, CAIRN_MARKER_FILL_BUFFER);
  submit(upload, fill, fill + 1);
  const TestBlock::TestDescriptor descriptors[] = {
      {2, DescriptorKind::kBuffer, block.object(buffer - 1).native_handle, 0, true}};
  const TestBlock::List main = add_list();
  block.BindAddress(main, BindPoint::kDescriptorSet, 1 | kBindSlotOfCompute,
                    block.AddDescriptorSet(context, 0xD1, descriptors));
  const uint32_t cull = block.Begin(main, CAIRN_MARKER_PASS, "Cull");
  block.Scope(main, CAIRN_MARKER_DISPATCH);
  const uint32_t culled = block.End(main, cull);
  block.BindObject(main, BindPoint::kIndirectArguments, 0, buffer);
  const uint32_t draw = block.Begin(main, CAIRN_MARKER_DRAW_INDIRECT);
  block.End(main, draw);
  submit(main, draw, culled);
  const Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  const Findings findings = AnalyseDump(snapshot);
  ASSERT_EQ(findings.culprit.suspects.size(), 1u);
  std::string words;
  AppendArgumentsOrigin(snapshot, findings, words);
  EXPECT_EQ(
      words,
      "in buffer \"Draws\", perhaps last written by Cull > DISPATCH #1 of the same list (bound "
      "as descriptor set 1 binding 2), before that by FILL_BUFFER #1 of submission 1");
  words.clear();
  AppendSuspectReason(snapshot, findings, findings.culprit.suspects[0], true, words);
  EXPECT_THAT(words,
              ::testing::HasSubstr(
                  "; arguments in buffer \"Draws\", perhaps last written by Cull > DISPATCH #1 "));
}

// Numbers identify no machine and stay; addresses among them are moved.
TEST_F(ArgumentsTextTest, RedactionKeepsNumbersAndMovesAddresses) {
  Record(CAIRN_MARKER_DRAW, DrawArguments(0x12345678, 0x23456789, 0x3456789A, 0));
  EXPECT_EQ(Words(Redact(Take())), Words(Take()));
}
TEST_F(ArgumentsTextTest, RedactionMovesAddresses) {
  const uint64_t address = 0x7F12'3456'7000;
  Record(CAIRN_MARKER_TRACE_RAYS_INDIRECT, IndirectAddressArguments(1, address));
  EXPECT_EQ(Words(Take()), "(1 command from address 0x7f1234567000)");
  EXPECT_EQ(Words(Redact(Take())), "(1 command from address 0x10000)");
}

}  // namespace
}  // namespace cairn
