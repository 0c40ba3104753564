// SPDX-License-Identifier: Apache-2.0
#include "os/new_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "os/testing/file_fixture.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

struct stat FactsOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info;
}

// Runs the checks with the rights of another user. Returns 0, or the number of a check that failed.
template <typename Checks>
int AsNobody(const Checks& checks) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(setgid(kNobody) != 0 || setuid(kNobody) != 0 ? 99 : checks());
  }
  int end = -1;
  waitpid(child, &end, 0);
  return WIFEXITED(end) ? WEXITSTATUS(end) : -1;
}

class NewFileTest : public FileTest {
 protected:
  // A folder as /tmp is one, and in it a file of another user.
  void MakeSharedFolder(mode_t mode) {
    if (geteuid() != 0) GTEST_SKIP() << "only root has files of other users";
    fs::create_directory(In("shared"));
    ASSERT_EQ(chmod(In("shared").c_str(), mode), 0);
    Made("shared/theirs", "theirs");
    ASSERT_EQ(chown(In("shared/theirs").c_str(), kNobody, kNobody), 0);
  }
};

TEST_F(NewFileTest, IsItsOwnersAlone) {
  const mode_t before = umask(0);
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("x")));
  EXPECT_FALSE(ReplaceFile(In("page"), Bytes("x"), FileReaders::kEverybody));
  umask(before);
  EXPECT_EQ(FactsOf(In("a")).st_mode & 0777, 0600u);
  EXPECT_EQ(FactsOf(In("page")).st_mode & 0777, 0644u);
}

TEST_F(NewFileTest, HasItsNameWhenItIsWhole) {
  std::error_code error;
  {
    NewFile file = NewFile::Make(In("a"), error);
    ASSERT_FALSE(error);
    EXPECT_FALSE(file.Append(Bytes("half")));
    EXPECT_EQ(FactsAt(In("a")).type, fs::file_type::not_found);
    const std::set<std::string> names = Names();
    ASSERT_EQ(names.size(), 1u);
    EXPECT_EQ(FactsOf(In(*names.begin())).st_mode & 0777, 0600u);
    EXPECT_EQ(names.begin()->size(), std::string("a.12345678.part").size());
  }
  EXPECT_TRUE(Names().empty());
  NewFile file = NewFile::Make(In("a"), error);
  EXPECT_FALSE(file.Append(Bytes("all")));
  EXPECT_FALSE(file.Finish(TakenName::kRefuse));
  EXPECT_EQ(TextOf(In("a")), "all");
  NewFile second = NewFile::Make(In("a"), error);
  EXPECT_EQ(second.Finish(TakenName::kRefuse), std::errc::file_exists);
  EXPECT_EQ(TextOf(In("a")), "all");
  EXPECT_EQ(Names(), (std::set<std::string>{"a"}));
}

TEST_F(NewFileTest, FollowsNoLink) {
  Made("victim", "victim");
  fs::create_symlink(In("victim"), In("a"));
  // The name that was guessed once.
  fs::create_symlink(In("victim"), In("a." + std::to_string(getpid()) + ".part"));
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("mine")));
  EXPECT_EQ(TextOf(In("victim")), "victim");
  EXPECT_EQ(FactsOfName(In("a")).type, fs::file_type::regular);
  EXPECT_EQ(TextOf(In("a")), "mine");

  fs::create_symlink(In("victim"), In("journal"));
  EXPECT_EQ(ErrorOf(In("journal"), FileMode::kOpenOrCreate),
            std::errc::too_many_symbolic_link_levels);
}

TEST_F(NewFileTest, ReplacesNoFileOfAnotherWhereOthersCanWrite) {
  for (const mode_t mode : {mode_t{01777}, mode_t{0777}, mode_t{0770}}) {
    ASSERT_NO_FATAL_FAILURE(MakeSharedFolder(mode));
    if (IsSkipped()) return;
    EXPECT_EQ(ReplaceFile(In("shared/theirs"), Bytes("mine")), std::errc::operation_not_permitted);
    EXPECT_EQ(ErrorOf(In("shared/theirs"), FileMode::kOpenOrCreate),
              std::errc::operation_not_permitted);
    EXPECT_EQ(TextOf(In("shared/theirs")), "theirs");
    EXPECT_FALSE(ReplaceFile(In("shared/own"), Bytes("1")));
    EXPECT_FALSE(ReplaceFile(In("shared/own"), Bytes("2")));
    EXPECT_TRUE(Opened(In("shared/own"), FileMode::kOpenOrCreate).valid());
    // A file of this user that another user has given a second name.
    fs::create_hard_link(In("shared/own"), In("shared/second"));
    EXPECT_EQ(ErrorOf(In("shared/second"), FileMode::kOpenOrCreate),
              std::errc::operation_not_permitted);
    fs::remove_all(In("shared"));
  }
  // The owner of a folder is trusted with it, like root with every folder.
  ASSERT_NO_FATAL_FAILURE(MakeSharedFolder(0755));
  EXPECT_FALSE(ReplaceFile(In("shared/theirs"), Bytes("mine")));
  EXPECT_EQ(TextOf(In("shared/theirs")), "mine");
}

TEST_F(NewFileTest, NobodyElseReadsIt) {
  ASSERT_NO_FATAL_FAILURE(MakeSharedFolder(01777));
  if (IsSkipped()) return;
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  std::error_code error;
  NewFile file = NewFile::Make(In("shared/a"), error);
  ASSERT_FALSE(file.Append(Bytes("secret")));
  EXPECT_FALSE(ReplaceFile(In("shared/b"), Bytes("secret")));
  std::set<std::string> paths;
  for (const auto& entry : fs::directory_iterator(In("shared"))) paths.insert(entry.path());
  EXPECT_EQ(paths.size(), 3u);
  for (const std::string& path : paths) {
    const int end = AsNobody([&] { return access(path.c_str(), R_OK) == 0 ? 1 : 0; });
    EXPECT_EQ(end, path == In("shared/theirs") ? 1 : 0) << path;
  }
}

TEST_F(NewFileTest, PermissionsAreCopiedToAnOwnFileAlone) {
  Made("from", "");
  ASSERT_EQ(chmod(In("from").c_str(), 0644), 0);
  EXPECT_FALSE(ReplaceFile(In("to"), Bytes("x")));
  fs::create_symlink(In("to"), In("link"));
  CopyPermissions(In("from"), In("link"));
  EXPECT_EQ(FactsOf(In("to")).st_mode & 0777, 0600u);
  CopyPermissions(In("from"), In("to"));
  EXPECT_EQ(FactsOf(In("to")).st_mode & 0777, 0644u);
}

// Sets the limit of `ulimit -f`, in a child: not every user can raise it again.
TEST_F(NewFileTest, ALimitOfTheSizeIsAnErrorAndLeavesNothing) {
  Made("a", "before");
  const pid_t child = fork();
  if (child == 0) {
    TellFileLimitsAsErrors();
    const rlimit limit = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(90);
    const std::error_code error = ReplaceFile(In("a"), std::vector<std::byte>(10000));
    if (error != std::errc::file_too_large) _exit(91);
    // Programs that are started die of it as ever.
    execl("/bin/sh", "sh", "-c", "trap", nullptr);
    _exit(92);
  }
  int end = -1;
  ASSERT_EQ(waitpid(child, &end, 0), child);
  EXPECT_TRUE(WIFEXITED(end));
  EXPECT_EQ(WEXITSTATUS(end), 0);
  EXPECT_EQ(TextOf(In("a")), "before");
  EXPECT_EQ(Names(), (std::set<std::string>{"a"}));
}

}  // namespace
}  // namespace cairn
