// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "os/pager.h"

namespace cairn {
namespace {

// While it lives, stdout is a terminal of 90 columns and 8 rows, or a file; stderr is no terminal.
class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    stdout_before_ = dup(STDOUT_FILENO);
    stderr_before_ = dup(STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_EQ(grantpt(master_), 0);
    ASSERT_EQ(unlockpt(master_), 0);
    slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
    SetSize(90, 8);
    file_ = open("/dev/null", O_WRONLY);
    dup2(slave_, STDOUT_FILENO);
    dup2(file_, STDERR_FILENO);
  }
  void TearDown() override {
    dup2(stdout_before_, STDOUT_FILENO);
    dup2(stderr_before_, STDERR_FILENO);
    for (const int opened : {stdout_before_, stderr_before_, master_, slave_, file_}) close(opened);
  }
  void SetSize(uint16_t columns, uint16_t rows) const {
    const winsize size{rows, columns, 0, 0};
    ASSERT_EQ(ioctl(slave_, TIOCSWINSZ, &size), 0);
  }

  int stdout_before_ = -1;
  int stderr_before_ = -1;
  int master_ = -1;
  int slave_ = -1;
  int file_ = -1;
};

TEST_F(TerminalTest, ATerminalAndItsSize) {
  EXPECT_TRUE(IsTerminal(StandardStream::kOutput));
  EXPECT_FALSE(IsTerminal(StandardStream::kError));
  EXPECT_EQ(OutputSize().columns, 90u);
  EXPECT_EQ(OutputSize().rows, 8u);
  SetSize(120, 40);
  EXPECT_EQ(OutputSize().columns, 120u);
  EXPECT_EQ(OutputSize().rows, 40u);
}

TEST_F(TerminalTest, EscapeSequencesAreForThoseThatKnowThem) {
  EXPECT_TRUE(TakesEscapes(StandardStream::kOutput));
  EXPECT_FALSE(TakesEscapes(StandardStream::kError));
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(TakesEscapes(StandardStream::kOutput));
  unsetenv("TERM");
  EXPECT_FALSE(TakesEscapes(StandardStream::kOutput));
}

TEST_F(TerminalTest, APagerStandsBeforeTheTerminal) {
  const std::string shown = testing::TempDir() + "pager_test.txt";
  {
    const Pager pager("tr a-z A-Z >" + shown);
    std::fputs("shown by it", stdout);
    EXPECT_FALSE(IsTerminal(StandardStream::kOutput));
    EXPECT_TRUE(TakesEscapes(StandardStream::kOutput));
    EXPECT_EQ(OutputSize().columns, 90u);
  }
  EXPECT_TRUE(IsTerminal(StandardStream::kOutput));
  std::ifstream file(shown);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "SHOWN BY IT");
  std::remove(shown.c_str());
}

TEST_F(TerminalTest, NoPagerWhereThereIsNoTerminal) {
  const std::string shown = testing::TempDir() + "no_pager_test.txt";
  dup2(file_, STDOUT_FILENO);
  { const Pager pager("cat >" + shown); }
  EXPECT_FALSE(std::ifstream(shown).good());
}

TEST_F(TerminalTest, ThePagerThatTheUserChose) {
  setenv("PAGER", "more", 1);
  unsetenv("CAIRN_PAGER");
  EXPECT_EQ(PagerCommand(), "more");
  setenv("CAIRN_PAGER", "more -s", 1);
  EXPECT_EQ(PagerCommand(), "more -s");
  setenv("CAIRN_PAGER", "LANG=C more", 1);
  EXPECT_EQ(PagerCommand(), "LANG=C more");
  for (const char* const missing : {"no-such-pager -R", "/no/such/pager"}) {
    setenv("CAIRN_PAGER", missing, 1);
    EXPECT_EQ(PagerCommand(), "more") << missing;
  }
  setenv("CAIRN_PAGER", "", 1);
  EXPECT_EQ(PagerCommand(), "");
  setenv("CAIRN_PAGER", "cat", 1);
  EXPECT_EQ(PagerCommand(), "");
  unsetenv("CAIRN_PAGER");
  unsetenv("PAGER");
}

TEST_F(TerminalTest, AFileIsNone) {
  dup2(file_, STDOUT_FILENO);
  dup2(slave_, STDERR_FILENO);
  EXPECT_FALSE(IsTerminal(StandardStream::kOutput));
  EXPECT_FALSE(TakesEscapes(StandardStream::kOutput));
  EXPECT_EQ(OutputSize().columns, 0u);
  EXPECT_EQ(OutputSize().rows, 0u);
  EXPECT_TRUE(TakesEscapes(StandardStream::kError));
}

TEST(Locale, OnlyItsNameSaysWhatItShows) {
  const auto is_utf8 = [](const char* all, const char* type, const char* language) {
    for (const auto& [name, value] :
         {std::pair{"LC_ALL", all}, std::pair{"LC_CTYPE", type}, std::pair{"LANG", language}}) {
      value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    }
    return LocaleIsUtf8();
  };
  EXPECT_FALSE(is_utf8(nullptr, nullptr, nullptr));
  EXPECT_TRUE(is_utf8(nullptr, nullptr, "de_DE.UTF-8"));
  EXPECT_TRUE(is_utf8("", nullptr, "C.utf8"));
  EXPECT_FALSE(is_utf8("C", "de_DE.UTF-8", "de_DE.UTF-8"));
  EXPECT_FALSE(is_utf8(nullptr, "POSIX", "de_DE.UTF-8"));
  EXPECT_FALSE(is_utf8(nullptr, nullptr, "de_DE@euro"));
}

}  // namespace
}  // namespace cairn
