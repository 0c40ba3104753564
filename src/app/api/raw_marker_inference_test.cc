// SPDX-License-Identifier: Apache-2.0
//
// The five examples of the AGS documentation, through the public function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cairn/markers.h"

namespace {

using testing::HasSubstr;

// "T1 X B2": a top-of-pipe marker that writes 1 to slot 1, a work, a bottom-of-pipe marker.
std::vector<CairnRawCommand> Program(const std::string& text) {
  std::vector<CairnRawCommand> commands;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] != 'T' && text[i] != 'B') {
      commands.push_back({CAIRN_RAW_WORK, 0, 0});
      continue;
    }
    const auto kind = text[i] == 'T' ? CAIRN_RAW_TOP_MARKER : CAIRN_RAW_BOTTOM_MARKER;
    const auto number = static_cast<uint32_t>(text[++i] - '0');
    commands.push_back({kind, number, number});
  }
  return commands;
}

struct Answer {
  // For each work: F finished, R may run, r may run but is unlikely, N not started.
  std::string states;
  std::vector<std::string> reasons;
  uint32_t consistent = 77;
};

Answer Infer(const std::string& program, const std::vector<uint32_t>& written) {
  const std::vector<CairnRawCommand> commands = Program(program);
  std::vector<uint64_t> slots(10, CAIRN_MARKER_UNWRITTEN);
  for (const uint32_t marker : written) slots[marker] = marker;
  uint32_t count = 0;
  EXPECT_EQ(cairnInferFromMarkers(commands.data(), static_cast<uint32_t>(commands.size()),
                                  slots.data(), 10, 0, nullptr, &count, nullptr),
            CAIRN_OK);
  std::vector<CairnRawVerdict> verdicts(count);
  Answer answer;
  EXPECT_EQ(cairnInferFromMarkers(commands.data(), static_cast<uint32_t>(commands.size()),
                                  slots.data(), 10, 0, verdicts.data(), &count, &answer.consistent),
            CAIRN_OK);
  for (const CairnRawVerdict& verdict : verdicts) {
    EXPECT_EQ(commands[verdict.command].kind, CAIRN_RAW_WORK);
    const char state[] = {'N', verdict.likely != 0 ? 'R' : 'r', 'F'};
    answer.states += state[verdict.state];
    answer.reasons.push_back(verdict.reason);
  }
  return answer;
}

TEST(RawMarkerInference, TheFiveExamples) {
  // 1: markers 4 and 5 wait for X, 6 does not.
  EXPECT_EQ(Infer("T1 B2 B3 X B4 B5 T6", {1, 2, 3, 6}).states, "R");
  EXPECT_EQ(Infer("T1 B2 B3 X B4 B5 T6", {1, 2, 3, 4, 5, 6}).states, "F");
  // 2
  EXPECT_EQ(Infer("T1 X B2 T3 Y B4", {1, 3}).states, "RR");
  EXPECT_EQ(Infer("T1 X B2 T3 Y B4", {1}).states, "RN");
  EXPECT_EQ(Infer("T1 X B2 T3 Y B4", {1, 2, 3}).states, "FR");
  // 3
  EXPECT_EQ(Infer("B1 X B2 Y B3 Z B4", {1}).states, "RRR");
  EXPECT_EQ(Infer("B1 X B2 Y B3 Z B4", {1, 2}).states, "FRR");
  EXPECT_EQ(Infer("B1 X B2 Y B3 Z B4", {1, 2, 3}).states, "FFR");
  // 4
  EXPECT_EQ(Infer("T1 X T2 Y T3 Z", {1}).states, "RNN");
  EXPECT_EQ(Infer("T1 X T2 Y T3 Z", {1, 2}).states, "RRN");
  EXPECT_EQ(Infer("T1 X T2 Y T3 Z", {1, 2, 3}).states, "RRR");
  // 5
  EXPECT_EQ(Infer("X T1 B2 Y T3 B4", {1, 3}).states, "RR");
  EXPECT_EQ(Infer("X T1 B2 Y T3 B4", {1}).states, "Rr");
  EXPECT_EQ(Infer("X T1 B2 Y T3 B4", {1, 2, 3}).states, "FR");
}

// The console output with which the documentation ends: eight draws with markers around, of which five
// wrote 0xDEADCAFE and 0xDEADBEEF and three nothing.
TEST(RawMarkerInference, TheTableOfTheDocumentation) {
  constexpr uint64_t kTop = 0xDEADCAFE;
  constexpr uint64_t kBottom = 0xDEADBEEF;
  constexpr uint64_t kUnwritten = 0xCDCDCDCDCDCDCDCD;
  const uint64_t slots[16] = {kTop,       kBottom,    kTop,       kBottom,   kTop,       kBottom,
                              kTop,       kBottom,    kTop,       kBottom,   kUnwritten, kUnwritten,
                              kUnwritten, kUnwritten, kUnwritten, kUnwritten};
  std::vector<CairnRawCommand> commands;
  for (uint32_t draw = 0; draw < 8; ++draw) {
    commands.push_back({CAIRN_RAW_TOP_MARKER, 2 * draw, kTop});
    commands.push_back({CAIRN_RAW_WORK, 0, 0});
    commands.push_back({CAIRN_RAW_BOTTOM_MARKER, 2 * draw + 1, kBottom});
  }
  CairnRawVerdict draws[8];
  uint32_t count = 8;
  uint32_t consistent = 0;
  ASSERT_EQ(cairnInferFromMarkers(commands.data(), 24, slots, 16, 0, draws, &count, &consistent),
            CAIRN_OK);
  ASSERT_EQ(count, 8u);
  EXPECT_EQ(consistent, 1u);
  for (uint32_t draw = 0; draw < 8; ++draw) {
    SCOPED_TRACE(draw);
    EXPECT_EQ(draws[draw].state, draw < 5 ? CAIRN_RAW_FINISHED : CAIRN_RAW_MAY_RUN);
    EXPECT_EQ(draws[draw].likely, draw == 5 ? 1u : 0u);
  }
  EXPECT_STREQ(
      draws[5].reason,
      "may be running: no other work can be the culprit, and it is the first that is not "
      "proven to have completed; the write of the top-of-pipe marker 11 before it can be lost "
      "with the device");
  EXPECT_THAT(draws[6].reason, HasSubstr("unlikely, as earlier work has not completed either"));
}

TEST(RawMarkerInference, WithoutACandidateTheFirstThatIsNotProvenIsLikely) {
  EXPECT_EQ(Infer("T1 X B2 T3 Y B4 T5 Z B6", {1, 2}).states, "FRr");
  // No marker arrived.
  EXPECT_EQ(Infer("T1 X B2 T3 Y B4", {}).states, "Rr");
  EXPECT_EQ(Infer("T1 X T2 Y T3 Z", {}).states, "Rrr");
  // Bottom markers alone exclude nothing, and need no store that was lost.
  EXPECT_EQ(Infer("B1 X B2 Y B3", {1, 2}).states, "FR");
  EXPECT_EQ(Infer("B1 X B2 Y B3", {}).states, "RR");
  // A candidate is left.
  EXPECT_EQ(Infer("T1 X B2 T3 Y B4 T5 Z B6", {1, 2, 3}).states, "FRN");
  EXPECT_EQ(Infer("T1 X Y B2 T3 Z", {1}).states, "RRN");
  // Work that nothing marks stands before the missing marker.
  EXPECT_EQ(Infer("T1 X B2 Y T3 Z B4", {1, 2}).states, "FRN");
  // Everything finished.
  EXPECT_EQ(Infer("T1 X B2 T3 Y B4", {1, 2, 3, 4}).states, "FF");
}

TEST(RawMarkerInference, TopAndBottomExchangedSaySomethingElse) {
  EXPECT_NE(Infer("B1 X B2 Y B3 Z B4", {1, 2}).states, Infer("T1 X T2 Y T3 Z T4", {1, 2}).states);
  EXPECT_NE(Infer("T1 X B2 T3 Y B4", {1, 2}).states, Infer("B1 X T2 B3 Y T4", {1, 2}).states);
}

TEST(RawMarkerInference, ReasonsNameMarkers) {
  const Answer answer = Infer("T1 X B2 T3 Y B4", {1, 2});
  ASSERT_EQ(answer.reasons.size(), 2u);
  EXPECT_THAT(answer.reasons[0], HasSubstr("completed: the bottom-of-pipe marker 2"));
  EXPECT_THAT(answer.reasons[1], HasSubstr("top-of-pipe marker 3 before it can be lost"));
  EXPECT_THAT(Infer("T1 X B2 T3 Y B4", {1}).reasons[1], HasSubstr("not started: "));
  EXPECT_EQ(answer.consistent, 1u);
}

TEST(RawMarkerInference, SlotsThatNoOrderLeavesAreSaid) {
  const Answer answer = Infer("T1 X T2 Y", {2});
  EXPECT_EQ(answer.consistent, 0u);
  EXPECT_EQ(answer.states.find('N'), std::string::npos);
}

TEST(RawMarkerInference, Arguments) {
  const CairnRawCommand work = {CAIRN_RAW_WORK, 0, 0};
  CairnRawCommand strange = work;
  strange.kind = static_cast<CairnRawCommandKind>(9);
  uint32_t count = 0;
  EXPECT_EQ(cairnInferFromMarkers(nullptr, 1, nullptr, 0, 0, nullptr, &count, nullptr),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnInferFromMarkers(&work, 1, nullptr, 0, 0, nullptr, nullptr, nullptr),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnInferFromMarkers(&strange, 1, nullptr, 0, 0, nullptr, &count, nullptr),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(cairnGetLastErrorMessage(), HasSubstr("kind 9"));
  // Slots that are not there count as unwritten.
  const CairnRawCommand commands[] = {{CAIRN_RAW_TOP_MARKER, 4000000000u, 1}, work};
  CairnRawVerdict verdict = {};
  count = 1;
  ASSERT_EQ(cairnInferFromMarkers(commands, 2, nullptr, 0, 0, &verdict, &count, nullptr), CAIRN_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(verdict.state, CAIRN_RAW_MAY_RUN);
  EXPECT_THAT(verdict.reason, HasSubstr("top-of-pipe marker 1 before it"));
}

}  // namespace
