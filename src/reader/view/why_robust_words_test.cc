// SPDX-License-Identifier: Apache-2.0
#include "reader/view/why_robust_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "reader/view/testing/why_answers.h"

namespace cairn::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Robust accesses help; those of shaders that are checked do not.
WhyTold RobustFound() {
  WhyTold told = LoopFound();
  told.program = "./grass";
  WhyFound& found = told.found;
  found.kind = FailureKind::kLost;
  WhyResult robust = {.name = ExperimentName::kRobust, .verdict = WhyVerdict::kLikely};
  robust.with = {4, 0, 0, 0};
  robust.without = {1, 1, 0, 0};
  robust.changes = 4;
  robust.robust = {.enabled = kAllRobustFeatures & ~kRobustBufferAccess,
                   .own = kRobustBufferAccess};
  WhyResult bounds = {.name = ExperimentName::kBounds, .verdict = WhyVerdict::kFails};
  bounds.with = {1, 1, 0, 0};
  bounds.accesses.checked = {.change = Change::kCheckBounds};
  found.results = {robust, bounds};
  found.causes = {0};
  return told;
}

constexpr const char* kLikely =
    "No more than likely: a driver compiles other code with these features, and that may be what "
    "helps.";

TEST(WhyRobustWords, AnAccessThatTheChecksDoNotSee) {
  EXPECT_EQ(
      "./grass loses the device, in 3 of 3 runs.\n"
      "\n"
      "Why\n"
      "  likely: A shader or a draw accesses memory beyond the range of a buffer or outside of an "
      "image, or a descriptor that is null.\n"
      "  With the device's robust accesses enabled the program failed in 0 of 4 runs, without in 4 "
      "of 4.\n"
      "  Enabled: robustBufferAccess2, robustImageAccess, robustImageAccess2, nullDescriptor.\n"
      "  The program itself enables robustBufferAccess.\n"
      "  With accesses skipped the failure stays, so it is one that the checks of shaders do not "
      "see: an element beyond the bound range of a uniform buffer or of a storage buffer of fixed "
      "length, a vertex beyond its buffer, a texel beyond a texel buffer, a texel outside of an "
      "image or a descriptor that is null.\n"
      "  No more than likely: a driver compiles other code with these features, and that may be "
      "what helps.\n"
      "Not the cause: accesses skipped (1 of 1 fails)\n"
      "16 runs, 61.2 s.\n",
      WhyAsText(RobustFound()));
}

TEST(WhyRobustWords, ItIsOfWhatWasEnabled) {
  WhyTold told = RobustFound();
  WhyResult& robust = told.found.results[0];
  robust.robust = {.enabled = kNullDescriptor};
  EXPECT_THAT(RobustInWords(told.found, robust),
              ElementsAre("Enabled: nullDescriptor.",
                          "With accesses skipped the failure stays, so it is one that the checks "
                          "of shaders do not see: a descriptor that is null.",
                          kLikely));
  robust.robust = {.enabled = kRobustImageAccess | kNullDescriptor};
  told.found.results[1].verdict = WhyVerdict::kDoesNotApply;
  EXPECT_THAT(
      RobustInWords(told.found, robust),
      ElementsAre("Enabled: robustImageAccess, nullDescriptor.",
                  "It can be a texel outside of an image or a descriptor that is null.", kLikely))
      << "nothing was checked";
}

TEST(WhyRobustWords, AccessesThatWereNotCheckedLeaveItOpen) {
  constexpr const char* kOpen = "It can be a descriptor that is null.";
  WhyTold told = RobustFound();
  told.found.results[0].robust = {.enabled = kNullDescriptor};
  const auto sentences = [&] { return RobustInWords(told.found, told.found.results[0]); };
  const WhyResult bounds = told.found.results[1];
  EXPECT_THAT(sentences(), Not(Contains(kOpen)));
  WhyResult& changed = told.found.results[1];
  changed.accesses.unchecked = {{.why = "the array has no length", .count = 2, .partly = true}};
  EXPECT_THAT(sentences(), Contains(kOpen));
  changed = bounds;
  changed.accesses.dropped = 1;
  EXPECT_THAT(sentences(), Contains(kOpen));
  changed = bounds;
  changed.accesses.refused_modules = 1;
  EXPECT_THAT(sentences(), Contains(kOpen));
  changed = bounds;
  changed.verdict = WhyVerdict::kFailsOtherwise;
  EXPECT_THAT(sentences(), Contains(kOpen)) << "the failure did not stay: it was another";
  told.found.results.pop_back();
  EXPECT_THAT(sentences(), Contains(kOpen)) << "nobody asked";
}

TEST(WhyRobustWords, FeaturesThatWereNotEnabledAreADoubt) {
  WhyTold told = LoopFound();
  WhyResult robust = {.name = ExperimentName::kRobust, .verdict = WhyVerdict::kFails};
  robust.with = {1, 1, 0, 0};
  robust.changes = 1;
  robust.robust = {.enabled = kRobustBufferAccess,
                   .own = kRobustImageAccess,
                   .missing = kRobustImageAccess2 | kNullDescriptor,
                   .left = kRobustBufferAccess2};
  told.found.results.push_back(robust);
  WhyResult& asked = told.found.results.back();
  const std::string text = WhyAsText(told);
  EXPECT_THAT(text, HasSubstr("robust accesses (1 of 1 fails)"));
  EXPECT_THAT(text, HasSubstr("\nNot enabled: robustImageAccess2, nullDescriptor (the device does "
                              "not have them); robustBufferAccess2 (the layers could not enable "
                              "it); robustImageAccess (the program itself enables it)\n"));
  EXPECT_THAT(WhyAsMarkdown(told), HasSubstr("nullDescriptor (the device does not have them)"));
  asked.robust = {.enabled = kAllRobustFeatures, .missing = kNullDescriptor};
  EXPECT_THAT(RobustDoubts(asked),
              ElementsAre("Not enabled: nullDescriptor (on one device, and on another it was)"));
  asked.robust = {.enabled = kAllRobustFeatures & ~kNullDescriptor, .missing = kNullDescriptor};
  asked.verdict = WhyVerdict::kFailsOtherwise;
  EXPECT_THAT(RobustDoubts(asked),
              ElementsAre("Not enabled: nullDescriptor (the device does not have it)"));
  asked.robust = {.enabled = kAllRobustFeatures};
  EXPECT_THAT(RobustDoubts(asked), IsEmpty());
  // Where it helps, the features stand behind the cause; where it does not apply, the reason has them.
  asked.robust = robust.robust;
  for (const WhyVerdict verdict :
       {WhyVerdict::kLikely, WhyVerdict::kDoesNotApply, WhyVerdict::kNotAsked}) {
    asked.verdict = verdict;
    EXPECT_THAT(RobustDoubts(asked), IsEmpty());
  }
  asked = robust;
  asked.name = ExperimentName::kBounds;
  EXPECT_THAT(RobustDoubts(asked), IsEmpty());
}

TEST(WhyRobustWords, CheckedAccessesAreTheCauseAndItAgrees) {
  WhyTold told = AccessFound();
  WhyResult robust = RobustFound().found.results[0];
  robust.robust.own = 0;
  told.found.results.insert(told.found.results.begin() + 1, robust);
  told.found.causes = {0, 1};
  const std::string text = WhyAsText(told);
  EXPECT_THAT(text, HasSubstr("Why\n  proven: A shader accesses memory or a descriptor out of "
                              "bounds.\n"));
  EXPECT_THAT(text, HasSubstr("\nHelps as well\n  likely: A shader or a draw accesses memory"));
  EXPECT_THAT(text, HasSubstr("nullDescriptor.\n  It agrees with the accesses skipped, which name "
                              "the place.\n"));
  EXPECT_THAT(text, Not(HasSubstr("It can be")));
  EXPECT_THAT(text, Not(HasSubstr("No more than likely")));
}

TEST(WhyRobustWords, TheJsonHasTheFeatures) {
  WhyTold told = RobustFound();
  told.found.results[0].robust.missing = kNullDescriptor;
  told.found.results[0].robust.left = kRobustImageAccess;
  const Json answer = Json::Parse(WhyAsJson(told));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  EXPECT_EQ("robust", answer["causes"][0]);
  const Json& robust = answer["experiments"][0];
  EXPECT_EQ("robust", robust["name"]);
  EXPECT_EQ("robust", robust["experiment"]);
  EXPECT_EQ("likely", robust["verdict"]);
  EXPECT_EQ(4, robust["changes"]);
  EXPECT_EQ(Json::Parse(R"({"enabled": ["robustBufferAccess2", "robustImageAccess",
                                        "robustImageAccess2", "nullDescriptor"],
                            "of_program": ["robustBufferAccess"],
                            "missing": ["nullDescriptor"], "left": ["robustImageAccess"]})"),
            robust["features"]);
  EXPECT_EQ(4u, answer["answer"]["causes"][0]["behind"].size());
  EXPECT_EQ(kLikely, answer["answer"]["causes"][0]["behind"][3].get<std::string>());
}

}  // namespace
}  // namespace cairn::cli
