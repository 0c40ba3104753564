// SPDX-License-Identifier: Apache-2.0
#include "base/program_name.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

using namespace std::string_literals;

TEST(ProgramOfCommandLine, IsTheFirstArgument) {
  EXPECT_EQ(ProgramOfCommandLine("./game\0--level\0tool.exe\0"s), "./game");
  EXPECT_EQ(ProgramOfCommandLine("./game"), "./game");
  EXPECT_EQ(ProgramOfCommandLine(""), "");
  EXPECT_EQ(ProgramOfCommandLine("\0\0"s), "");
}

TEST(ProgramOfCommandLine, UnderWineIsTheExe) {
  EXPECT_EQ(ProgramOfCommandLine("wine64\0Z:\\My Games\\Game.exe\0tool.exe\0"s),
            "Z:\\My Games\\Game.exe");
  EXPECT_EQ(ProgramOfCommandLine(
                "/usr/lib/wine/wine64-preloader\0/usr/lib/wine/wine64\0game/GAME.EXE\0-x\0"s),
            "game/GAME.EXE");
  // Wine takes its own name away once it runs.
  EXPECT_EQ(ProgramOfCommandLine("C:\\windows\\system32\\services.exe\0"s),
            "C:\\windows\\system32\\services.exe");
  EXPECT_EQ(ProgramOfCommandLine("wine64\0--version\0"s), "wine64");
  EXPECT_EQ(ProgramOfArguments({"wine", "explorer", "/desktop=a", "Game.exe"}), "Game.exe");
}

TEST(NameOfProgram, IsBehindTheLastSeparator) {
  EXPECT_EQ(NameOfProgram("/usr/bin/game"), "game");
  EXPECT_EQ(NameOfProgram("game"), "game");
  EXPECT_EQ(NameOfProgram("folder/"), "");
  EXPECT_EQ(NameOfProgram("Z:\\My Games\\Game.exe"), "Game.exe");
  EXPECT_EQ(NameOfProgram("games\\folder/Game.EXE"), "Game.EXE");
  EXPECT_EQ(NameOfProgram("/opt/odd\\name"), "odd\\name");
}

}  // namespace
}  // namespace cairn
