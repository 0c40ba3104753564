// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/triage_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/json.h"
#include "reader/page/page.h"
#include "reader/page/testing/unpack.h"
#include "reader/serve/file_question.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

Json DataOf(const PageAnswer& page) {
  EXPECT_EQ(page.status, 200) << page.body.substr(0, 200);
  constexpr std::string_view kBefore = "id=\"data\">";
  const size_t begin = page.body.find(kBefore) + kBefore.size();
  return Json::Parse(
      Unpacked(std::string_view(page.body).substr(begin, page.body.find('<', begin) - begin)));
}

class TriageSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasPage()) GTEST_SKIP() << "built without the viewer";
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Copy("snapshot-v1.cairn", "a.cairn");
    session_ = TriageSession::Open({.paths = {folder_.string()}, .place = "crashes"}).value();
  }
  void TearDown() override {
    session_.reset();
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  void Copy(const std::string& golden, const std::string& name) {
    fs::copy_file(kGolden + golden, folder_ / name, fs::copy_options::overwrite_existing);
  }
  PageAnswer Ask(const std::string& target, bool is_order = false) {
    return session_->Answer({.target = target, .is_order = is_order});
  }
  static std::string FileName(const Json& data, size_t group, size_t file) {
    return fs::path(data["details"][group]["files"][file]["file"].get<std::string>())
        .filename()
        .string();
  }

  fs::path folder_;
  std::unique_ptr<TriageSession> session_;
};

TEST_F(TriageSessionTest, APageShowsWhatIsThereNow) {
  EXPECT_EQ(DataOf(Ask(""))["triage"]["dumps"], 1);
  Copy("snapshot-vulkan-v1.cairn", "b.cairn");
  std::ofstream(folder_ / "c.cairn") << "no dump";
  const Json data = DataOf(Ask(""));
  EXPECT_EQ(data["triage"]["dumps"], 2);
  EXPECT_EQ(data["triage"]["unreadable_count"], 1);
  EXPECT_EQ(data["place"], "crashes");
  fs::remove(folder_ / "a.cairn");
  EXPECT_EQ(DataOf(Ask(""))["triage"]["dumps"], 1);
}

TEST_F(TriageSessionTest, AFileAnswersByItsNumberWhateverComesLater) {
  Copy("played/passes.cairn", "0 trace.cairn");
  Copy("snapshot-vulkan-v1.cairn", "z.cairn");
  const Json before = DataOf(Ask(""));
  Copy("late-fault-h100-v1.cairn", "0.cairn");  // comes first by its name
  const Json after = DataOf(Ask(""));
  ASSERT_EQ(before["details"].size(), 2u);
  for (size_t group = 0; group < 2; ++group) {
    const Json file = before["details"][group]["files"][0];
    const std::string number = file["number"].dump();
    const Json page = DataOf(Ask("dump/" + number + "/"));
    EXPECT_EQ(page["file"], FileName(before, group, 0));
    EXPECT_FALSE(page["report"].is_null());
    EXPECT_EQ(Ask("dump/" + number + "/count").status, 404) << "it has no trace";
  }
  EXPECT_EQ(after["triage"]["dumps"], 3);
}

TEST_F(TriageSessionTest, AReportIsThatOfTheFileAsItIsNow) {
#ifdef _WIN32
  GTEST_SKIP() << "a file that is open is not replaced there";
#endif
  const std::string number = DataOf(Ask(""))["details"][0]["files"][0]["number"].dump();
  const Json before = DataOf(Ask("dump/" + number + "/"))["report"];
  Copy("snapshot-vulkan-v1.cairn", "a.cairn");
  fs::last_write_time(folder_ / "a.cairn", fs::file_time_type::clock::now());
  const Json after = DataOf(Ask("dump/" + number + "/"))["report"];
  EXPECT_NE(before["signature"]["id"], after["signature"]["id"]);
  fs::remove(folder_ / "a.cairn");
  const PageAnswer gone = Ask("dump/" + number + "/");
  EXPECT_EQ(gone.status, 404);
  EXPECT_THAT(gone.body, HasSubstr("a.cairn"));
}

TEST_F(TriageSessionTest, MoreFilesAreAnsweredThanStayOpen) {
  for (int i = 0; i < 12; ++i) Copy("snapshot-v1.cairn", "many-" + std::to_string(i) + ".cairn");
  ASSERT_EQ(DataOf(Ask(""))["triage"]["dumps"], 13);
  for (int round = 0; round < 2; ++round) {
    for (int number = 0; number < 13; ++number) {
      EXPECT_EQ(Ask("dump/" + std::to_string(number) + "/").status, 200);
    }
  }
}

TEST_F(TriageSessionTest, OtherQuestionsAreRefused) {
  Ask("");
  for (const char* const target :
       {"dump/0", "dump/1/", "dump/99999999999999999999/", "dump/-1/", "dump/0x0/", "dump//",
        "dump/../a.cairn", "a.cairn", "calls?first=0", "dump/0/../1/"}) {
    EXPECT_EQ(Ask(target).status, 404) << target;
  }
  EXPECT_EQ(Ask("", true).status, 404);
  EXPECT_EQ(Ask("dump/0/", true).status, 404);
}

TEST_F(TriageSessionTest, AfterItsEndNothingIsAnswered) {
  EXPECT_EQ(Ask("dump/0/").status, 404) << "nothing was looked at yet";
  EXPECT_TRUE(session_->Look([](uint64_t, uint64_t) { return true; }).ok());
  EXPECT_EQ(Ask("dump/0/").status, 200);
  session_->Stop();
  EXPECT_EQ(Ask("").status, 503);
  EXPECT_EQ(Ask("dump/0/").status, 404);
}

TEST(DumpQuestion, HasANumberAndTheRest) {
  const auto question = ReadDumpQuestion("dump/17/calls?first=0");
  ASSERT_TRUE(question.has_value());
  EXPECT_EQ(question->number, 17u);
  EXPECT_EQ(question->rest, "calls?first=0");
  EXPECT_EQ(ReadDumpQuestion("dump/0/")->rest, "");
  EXPECT_FALSE(ReadDumpQuestion("dumps/0/").has_value());
}

}  // namespace
}  // namespace cairn
