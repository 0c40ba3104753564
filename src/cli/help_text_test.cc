// SPDX-License-Identifier: Apache-2.0
//
// Prints the help of a described verb at several widths.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/description.h"

namespace cairn::cli {
namespace {

VerbDescription Verb() {
  VerbDescription verb;
  verb.name = "shine";
  verb.purpose = "Polishes a stone.";
  verb.usage = "cairn shine [OPTIONS] STONE\n       cairn shine -- PROGRAM";
  verb.footer =
      "Examples:\n"
      "  cairn shine pebble          until it shines\n"
      "  cairn shine --with silk --slowly pebble\n"
      "                              until it shines\n"
      "                              more\n"
      "\n"
      "^C ends it. The stone stays\n"
      "as it is.\n"
      "Exit codes:\n"
      "  0    it shines\n"
      "  1    it does not";
  verb.options = {
      {.names = {}, .type = "STONE", .help = "The stone"},
      {.names = {"-w", "--with"},
       .type = "CLOTH",
       .values = {"wool", "silk"},
       .default_value = "wool",
       .help = "What it is polished with, again and again, until nobody sees it any more"},
      {.names = {"--slowly"}, .excludes = {"--fast"}, .help = "Take time"},
      {.names = {"--into"}, .type = "FILE", .value_optional = true, .help = "Where it goes"},
      {.names = {"--check"}, .words = {"one", "all"}, .help = "Look at one or all"},
  };
  return verb;
}

TEST(HelpText, At80Columns) {
  EXPECT_EQ(HelpText(Verb(), {}, 80), R"(Polishes a stone.
Usage: cairn shine [OPTIONS] STONE
       cairn shine -- PROGRAM

Arguments:
  STONE               The stone

Options:
  -w, --with CLOTH    What it is polished with, again and again, until nobody
                      sees it any more; one of wool or silk; wool if not given
  --slowly            Take time; not with --fast
  --into [FILE]       Where it goes
  --check[=one|all]   Look at one or all

Examples:
  cairn shine pebble  until it shines
  cairn shine --with silk --slowly pebble
                      until it shines more

^C ends it. The stone stays as it is.
Exit codes:
  0  it shines
  1  it does not
)");
}

// A command that is longer than a line can still be pasted.
TEST(HelpText, At40Columns) {
  VerbDescription verb = Verb();
  verb.options = {};
  verb.footer =
      "Examples:\n  cairn shine --with silk --slowly --into hand pebble  until it shines, which it "
      "does soon";
  const std::string narrow = R"(Polishes a stone.
Usage: cairn shine [OPTIONS] STONE
       cairn shine -- PROGRAM

Examples:
  cairn shine --with silk --slowly \
      --into hand pebble
      until it shines, which it does
      soon
)";
  EXPECT_EQ(HelpText(verb, {}, 40), narrow);
  EXPECT_EQ(HelpText(verb, {}, 10), narrow);
}

TEST(HelpText, WithoutALimitNoSentenceIsBroken) {
  const std::string text = HelpText(Verb(), {}, 0);
  EXPECT_NE(text.find("What it is polished with, again and again, until nobody sees it any more"),
            std::string::npos)
      << text;
}

TEST(HelpText, TheProgramListsItsVerbs) {
  VerbDescription program;
  program.purpose = "Builds.";
  program.usage = "cairn COMMAND";
  VerbDescription stone = Verb();
  stone.group = "Stones";
  VerbDescription other = stone;
  other.name = "cut";
  VerbDescription wood = Verb();
  wood.name = "carve";
  wood.purpose = "Works on wood.";
  wood.group = "Wood";
  EXPECT_EQ(HelpText(program, {program, stone, other, wood}, 100), R"(Builds.
Usage: cairn COMMAND

Stones:
  shine                     Polishes a stone.
  cut                       Polishes a stone.

Wood:
  carve                     Works on wood.

)");
}

}  // namespace
}  // namespace cairn::cli
