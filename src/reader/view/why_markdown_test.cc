// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/view/testing/why_answers.h"
#include "reader/view/why_text.h"

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(WhyMarkdown, TheAnswerForATracker) {
  WhyTold told = LoopFound();
  told.program = "./fog --level 3";
  told.hang_timeout_seconds = 2;
  told.trips = 16;
  told.driver = "Mesa 22.3";
  told.found.devices = {"llvmpipe"};
  told.found.out_of_runs = true;
  WhyResult memory;
  memory.name = ExperimentName::kMemoryZero;
  memory.verdict = WhyVerdict::kDoesNotApply;
  memory.why = "nothing was changed";
  told.found.results.push_back(memory);
  EXPECT_EQ(WhyAsMarkdown(told), R"(### `./fog --level 3` hangs, in 3 of 3 runs

**Why, proven: A loop does not end, or runs far too long.**

With loops cut after 65,536 trips the program failed in 0 of 4 runs, without in 4 of 4.

The place:

- `fog.frag:41`: `for (float i = 0.5; i < 3.0; i += step)`, loop 2 of the shader, in `march()`. )"
                                 "19,200 of 20,000 executions reached the cut, the first in pixel "
                                 "(12, 40); its condition `i < 3.0` compared 0.5 and 3"
                                 R"(

Cut after 1,048,576 trips, the program does not fail either.

Not the cause:

- barrier in front (1 of 1 fails)
- objects kept alive (loses the device in 1 of 1)

Does not apply:

- memory of zeros (`nothing was changed`)

Not known:

- Ended by --max-runs; more runs may tell more.

Device: `llvmpipe`

Driver: `Mesa 22.3`

Repeated by `cairn why --hang-timeout 2 --trips 16 -- ./fog --level 3`, in 16 runs
)");
}

TEST(WhyMarkdown, NamesCannotBecomeMarkup) {
  constexpr char kEvil[] = "</details> ``` @everyone [a](http://b) |\n# x` <img src=y>";
  constexpr char kHarmless[] = "````</details> ``` @everyone [a](http://b) |\\x0a# x` <img src=y>";
  WhyTold told = LoopFound();
  told.program = kEvil;
  told.driver = kEvil;
  told.found.devices = {kEvil};
  LoopNote& loop = told.found.results[0].loops.alone[0];
  loop.file = loop.function = loop.text = loop.left = kEvil;
  told.found.results[1].verdict = WhyVerdict::kDoesNotApply;
  told.found.results[1].why = kEvil;
  const std::string text = WhyAsMarkdown(told);
  EXPECT_THAT(text, StartsWith(std::string("### ") + kHarmless));
  EXPECT_THAT(text, HasSubstr(std::string("- ") + kHarmless + ":41````: " + kHarmless));
  EXPECT_THAT(text, HasSubstr(std::string("in ") + kHarmless + "()````"));
  EXPECT_THAT(text, HasSubstr(std::string("its condition ") + kHarmless + " < 3.0````"));
  EXPECT_THAT(text, HasSubstr(std::string("barrier in front (") + kHarmless));
  EXPECT_THAT(text, HasSubstr(std::string("Device: ") + kHarmless));
  EXPECT_THAT(text, HasSubstr(std::string("Driver: ") + kHarmless));
  EXPECT_THAT(text, Not(HasSubstr("\n# x")));
}

TEST(WhyMarkdown, WithoutACause) {
  WhyTold told = LoopFound();
  told.is_trace = true;
  told.program = "my fog.cairn";
  told.found.results[0].verdict = WhyVerdict::kCodeHelps;
  told.found.causes.clear();
  const std::string text = WhyAsMarkdown(told);
  EXPECT_THAT(text,
              StartsWith("### `my fog.cairn` hangs, in 3 of 3 replays\n\nNo cause was found: "));
  EXPECT_THAT(text, HasSubstr("\n- Not proven: with loops cut the trace does not fail, but"));
  EXPECT_THAT(text, HasSubstr("\nRepeated by `cairn why 'my fog.cairn'`, in 16 replays\n"));
  told.found.unchanged = {3, 0, 0, 0};
  told.found.results.clear();
  EXPECT_THAT(
      WhyAsMarkdown(told),
      StartsWith("### `my fog.cairn`: no cause\n\nNo cause: the trace does not fail on this "
                 "device: 3 of 3 replays were clean.\n"));
}

}  // namespace
}  // namespace cairn::cli
