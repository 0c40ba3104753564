// SPDX-License-Identifier: Apache-2.0
//
// cairn triage --html and --serve, as a command. The page itself is tested in a browser: viewer/tests/triage.test.mjs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/testing/json.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "harness.h"
#include "reader/page/testing/unpack.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class TriagePageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"crashes", "tmp", "cache"}) fs::create_directory(folder_ / name);
    Copy("snapshot-v1.cairn", "crashes/a.cairn");
    Copy("snapshot-vulkan-v1.cairn", "crashes/b.cairn");
    const CommandResult page = Cairn({"triage", "--html", "probe.html", "crashes"});
    fs::remove_all(folder_ / "cache/cairn");
    if (page.exit_code != 0) GTEST_SKIP() << "built without the viewer: " << page.errors;
    fs::remove(folder_ / "probe.html");
  }
  void Copy(const std::string& golden, const std::string& name) {
    fs::copy_file(CAIRN_SOURCE_DIR "/tests/golden/" + golden, folder_ / name);
    // A file that was written just now is not kept.
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  Command::Options Options() const {
    Command::Options options{.folder = folder_.path(), .own_console = true};
    for (const char* const name : {"TMPDIR=", "TMP=", "TEMP="}) {  // of Linux, and of Windows
      options.environment.push_back(name + (folder_ / "tmp"));
    }
    for (const char* const name : {"XDG_CACHE_HOME=", "LOCALAPPDATA="}) {
      options.environment.push_back(name + (folder_ / "cache"));
    }
    return options;
  }
  static std::vector<std::string> Arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return arguments;
  }
  CommandResult Cairn(const std::vector<std::string>& arguments) const {
    return RunCommand(Arguments(arguments), Options());
  }
  void ExpectRefused(const std::vector<std::string>& arguments, int exit_code,
                     const std::string& line) {
    const std::vector<std::string> before = folder_.Contents();
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(result.errors, line + "\n");
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(folder_.Contents(), before);
  }
  // Serves these paths. `host_` and `path_` are those of the page.
  void Serve(const std::vector<std::string>& paths) {
    std::vector<std::string> arguments = {"triage", "--serve", "--no-browser"};
    arguments.insert(arguments.end(), paths.begin(), paths.end());
    served_.emplace(Arguments(arguments), Options());
    ASSERT_TRUE(WaitUntil([&] {
      return served_->output().find('\n') != std::string::npos || !IsRunning(served_->pid());
    }));
    const std::string address = served_->output();
    ASSERT_THAT(address, StartsWith("http://127.0.0.1:")) << served_->errors();
    host_ = address.substr(7, address.find('/', 7) - 7);
    const size_t start = 7 + host_.size();
    const httplib::Result page = Client().Get(address.substr(start, address.find('\n') - start));
    ASSERT_TRUE(page);
    ASSERT_EQ(page->status, 303);
    path_ = page->get_header_value("Location");
  }
  httplib::Client Client() const {
    httplib::Client client("127.0.0.1", std::stoi(host_.substr(host_.find(':') + 1)));
    client.set_read_timeout(120);
    return client;
  }
  int StatusOf(const std::string& path, const httplib::Headers& headers = {}) const {
    const httplib::Result answer = Client().Get(path, headers);
    return answer ? answer->status : 0;
  }
  std::vector<std::string> Kept() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache/cairn/triage", none)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  TemporaryFolder folder_;
  std::optional<Command> served_;
  std::string host_;
  std::string path_;
};

TEST_F(TriagePageTest, WritesOnePage) {
  const CommandResult result = Cairn({"triage", "--html", "t.html", "crashes"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const std::string page = ReadFile(folder_ / "t.html");
  EXPECT_EQ(result.output.substr(0, 8), "t.html (");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<cairn-triage>"));
  EXPECT_THAT(page, Not(HasSubstr("connect-src")));
  EXPECT_THAT(page, Not(HasSubstr("@DATA@")));
  // A second one is made of what was kept, and is the same but for its time, which is compressed.
  EXPECT_EQ(Kept().size(), 1u);
  ExpectRefused(
      {"triage", "--html", "t.html", "crashes"}, 1,
      "cairn triage: --html: cannot write 't.html': it is there already; --force replaces "
      "it");
  EXPECT_EQ(Cairn({"triage", "--html", "t.html", "--force", "crashes"}).exit_code, 0);
}

TEST_F(TriagePageTest, NamesOfARedactedPageAreHashes) {
  fs::create_directory(folder_ / "crashes/Secret folder");
  Copy("snapshot-d3d12-v1.cairn", "crashes/Secret folder/Secret player.cairn");
  std::ofstream(folder_ / "crashes/Secret text.cairn") << "hello";
  const auto data_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"triage", "--html", "t.html", "--force"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("crashes");
    EXPECT_EQ(Cairn(arguments).exit_code, 0);
    const std::string page = ReadFile(folder_ / "t.html");
    constexpr std::string_view kBefore = "id=\"data\">";
    const size_t begin = page.find(kBefore) + kBefore.size();
    return Unpacked(std::string_view(page).substr(begin, page.find('<', begin) - begin));
  };
  const std::string redacted = data_of({"--redact"});
  EXPECT_THAT(Kept(), IsEmpty());
  const std::string shown = data_of({});
  // Of the program, a list, a pipeline, a shader, a resource, a queue, a folder and files.
  for (const char* const name : {"/games/demo", "Shadow casters", "Shadow pipeline", "BlurCS",
                                 "Main", "Graphics", "Secret", "crashes", "a.cairn"}) {
    EXPECT_THAT(shown, HasSubstr(name));
    EXPECT_THAT(redacted, Not(HasSubstr(name)));
  }
  const Json json = Json::Parse(redacted);
  EXPECT_EQ(json["format"], "cairn-triage-page");
  EXPECT_EQ(json["place"], "4 redacted files");
  EXPECT_EQ(json["group_count"], 3);
  EXPECT_THAT(json["programs"][0].get<std::string>(), MatchesRegex("name-[0-9a-f]+"));
  for (const Json& detail : json["details"]) {
    EXPECT_THAT(detail["files"][0]["file"].get<std::string>(),
                MatchesRegex("name-[0-9a-f]+.cairn"));
  }
}

TEST_F(TriagePageTest, RefusesWhatCannotBe) {
  ExpectRefused({"triage", "--html", "t.html"}, 2,
                "cairn triage: no file is given; say cairn triage FOLDER, or name the files");
  ExpectRefused({"triage", "--serve"}, 2,
                "cairn triage: no file is given; say cairn triage FOLDER, or name the files");
  ExpectRefused({"triage", "--serve", "--json", "crashes"}, 2,
                "cairn triage: --json excludes --serve; see cairn triage --help");
  ExpectRefused({"triage", "--html", "t.html", "--jsonl", "crashes"}, 2,
                "cairn triage: --jsonl excludes --html; see cairn triage --help");
  ExpectRefused({"triage", "--html", "t.html", "--serve", "crashes"}, 2,
                "cairn triage: --html excludes --serve; see cairn triage --help");
  ExpectRefused({"triage", "--port", "4000", "crashes"}, 2,
                "cairn triage: --port requires --serve; see cairn triage --help");
  ExpectRefused({"triage", "--force", "crashes"}, 2,
                "cairn triage: --force requires --html; see cairn triage --help");
  ExpectRefused({"triage", "--redact", "crashes"}, 2,
                "cairn triage: --redact requires --html; see cairn triage --help");
  fs::create_directory(folder_ / "empty");
  ExpectRefused({"triage", "--html", "t.html", "empty"}, 1,
                "cairn triage: no file there ends with .cairn; cairn run writes such files");
}

TEST_F(TriagePageTest, WritesNothingWithoutAReport) {
  std::ofstream(folder_ / "text.cairn") << "hello";
  const CommandResult result = Cairn({"triage", "--html", "t.html", "text.cairn"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, EndsWith("cairn triage: --html: no file has a report; nothing is "
                                      "written\n"));
  EXPECT_FALSE(fs::exists(folder_ / "t.html"));
}

TEST_F(TriagePageTest, OtherFormsKeepNothing) {
  for (const char* const option : {"--json", "--jsonl"}) {
    EXPECT_EQ(Cairn({"triage", option, "crashes"}).exit_code, 0);
  }
  EXPECT_EQ(Cairn({"triage", "crashes"}).exit_code, 0);
  EXPECT_THAT(Kept(), IsEmpty());
}

TEST_F(TriagePageTest, AnswersWhoKnowsItsAddressAndNobodyElse) {
  Serve({"crashes"});
  EXPECT_EQ(StatusOf(path_), 200);
  EXPECT_EQ(StatusOf(path_ + "dump/0/"), 200);
  std::string other = path_;
  other[1] = other[1] == '0' ? '1' : '0';
  for (const std::string& path : {std::string("/"), std::string("/dump/0/"), other}) {
    EXPECT_EQ(StatusOf(path), 403) << path;
  }
  EXPECT_EQ(StatusOf(path_, {{"Host", "evil.example"}}), 403);
  EXPECT_EQ(StatusOf(path_ + "dump/0/", {{"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(StatusOf(path_ + "dump/0/", {{"Sec-Fetch-Site", "cross-site"},
                                         {"Sec-Fetch-Mode", "navigate"},
                                         {"Sec-Fetch-Dest", "document"}}),
            403);
  EXPECT_EQ(StatusOf(path_ + "dump/2/"), 404);
  EXPECT_EQ(StatusOf(path_ + "crashes/a.cairn"), 404);
  EXPECT_EQ(StatusOf(path_ + "dump/0/../../../etc/passwd"), 404);
  PressInterrupt(served_->pid());
  const CommandResult result = served_->Wait();
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
}

TEST_F(TriagePageTest, EndsWithItsLastPageWhicheverThatIs) {
  Serve({"crashes"});
  // The page of a file says that it is there at its own place.
  for (const char* const open : {"open", "dump/0/open"}) {
    httplib::Client client = Client();
    bool is_open = false;
    (void)client.Get(
        path_ + open,
        [&](const httplib::Response& response) {
          is_open = response.status == 200;
          return false;  // and goes
        },
        [](const char*, size_t) { return false; });
    EXPECT_TRUE(is_open) << open;
  }
  const CommandResult result = served_->Wait();
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
}

TEST_F(TriagePageTest, AFolderWithoutFilesIsServed) {
  fs::create_directory(folder_ / "empty");
  Serve({"empty"});
  EXPECT_EQ(StatusOf(path_), 200);
  PressInterrupt(served_->pid());
  EXPECT_EQ(served_->Wait().exit_code, 0);
}

#ifdef __linux__
// Returns true while the process has a dump open.
bool ReadsADump(pid_t process) {
  std::error_code gone;
  for (fs::directory_iterator it("/proc/" + std::to_string(process) + "/fd", gone), end;
       !gone && it != end; it.increment(gone)) {
    std::error_code closed;
    if (fs::read_symlink(it->path(), closed).extension() == ".cairn") return true;
  }
  return false;
}

TEST_F(TriagePageTest, CanBeInterruptedBeforeItServes) {
  TestBlock block(64 << 20);
  FillLargeBlock(&block, 100'000);
  const std::vector<std::byte> dump = SnapshotFileBytes(*SnapshotFromBlock(block.bytes(), 1));
  const std::string first = folder_ / "crashes/large.cairn";
  std::ofstream(first, std::ios::binary)
      .write(reinterpret_cast<const char*>(dump.data()), static_cast<std::streamsize>(dump.size()));
  for (int i = 0; i < 5'000; ++i) {
    fs::create_hard_link(first, folder_ / ("crashes/z" + std::to_string(i) + ".cairn"));
  }
  for (const char* const form : {"--serve", "--html=t.html"}) {
    Command command(Arguments({"triage", form, "crashes"}), Options());
    ASSERT_TRUE(WaitUntil([&] { return ReadsADump(command.pid()); }));
    PressInterrupt(command.pid());
    const CommandResult result = command.Wait();
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 1) << result.Summary();
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, StartsWith("cairn triage: interrupted after "));
    EXPECT_THAT(result.errors, EndsWith(" of 5,003 files\n"));
    EXPECT_THAT(result.left_behind, IsEmpty());
    EXPECT_FALSE(fs::exists(folder_ / "t.html"));
  }
}
#endif

}  // namespace
}  // namespace cairn::testing
