// SPDX-License-Identifier: Apache-2.0
//
// Checks the server's answers about golden files. Playbacks are tested with the program:
// tests/view_stops_test.cc, viewer/tests/view.test.mjs.
#include "reader/serve/file_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/trace/testing/test_trace.h"
#include "os/environment.h"
#include "reader/page/page.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTrace[] = CAIRN_SOURCE_DIR "/tests/golden/played/passes.cairn";
constexpr char kDump[] = CAIRN_SOURCE_DIR "/tests/golden/snapshot-vulkan-v1.cairn";

class FileSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasPage()) GTEST_SKIP() << "built without the viewer";
  }
  static PageAnswer Ask(FileSession& session, const std::string& name,
                        const std::map<std::string, std::string>& values = {},
                        bool is_order = false) {
    std::string target = name;
    for (const auto& [key, value] : values) {
      target += (target == name ? "?" : "&") + key + "=";
      for (const char c : value) target += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return session.Answer({.target = target, .is_order = is_order});
  }
  static Json AskJson(FileSession& session, const std::string& name,
                      const std::map<std::string, std::string>& values = {}) {
    const PageAnswer answer = Ask(session, name, values);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::Parse(answer.body);
  }
  static std::vector<Json> Lines(const PageAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<Json> lines;
    for (size_t at = 0; at < answer.body.size();) {
      const size_t end = answer.body.find('\n', at);
      lines.push_back(Json::Parse(answer.body.substr(at, end - at)));
      at = end + 1;
    }
    return lines;
  }
};

TEST_F(FileSessionTest, CallsByTheirPlace) {
  const auto session = FileSession::Open(kTrace, "").value();
  const uint64_t count = AskJson(*session, "count")["lines"].get<uint64_t>();
  EXPECT_GT(count, 1000u);
  const std::vector<Json> lines = Lines(Ask(*session, "calls", {{"first", "500"}, {"count", "3"}}));
  ASSERT_EQ(lines.size(), 3u);
  const std::string number = std::to_string(lines[1]["number"].get<uint64_t>());
  EXPECT_EQ(AskJson(*session, "line", {{"number", number}})["line"].get<uint64_t>(), 501u);
  EXPECT_EQ(Ask(*session, "calls", {{"first", std::to_string(count)}}).status, 400);
}

TEST_F(FileSessionTest, TheOutlineHasGroupsOfTheLinesThatThePageAsksFor) {
  const auto session = FileSession::Open(kTrace, "").value();
  const Json outline = AskJson(*session, "outline");
  ASSERT_EQ(outline["groups"].size(), 7u);
  for (const Json& group : outline["groups"]) {
    const std::string first = std::to_string(group["first"].get<uint64_t>());
    const Json line = Lines(Ask(*session, "calls", {{"first", first}, {"count", "1"}}))[0];
    EXPECT_EQ(line["annotation"], group["name"]);
    EXPECT_EQ(line["number"], group["call"]);
    const std::string last = std::to_string(group["last"].get<uint64_t>());
    EXPECT_THAT(Lines(Ask(*session, "calls", {{"first", last}, {"count", "1"}}))[0]["method"]
                    .get<std::string>(),
                HasSubstr("::EndEvent"));
  }
  EXPECT_EQ(outline["frames"]["count"].get<uint64_t>(), 1u);
  EXPECT_EQ(outline["suspects"].size(), 0u);
}

TEST_F(FileSessionTest, TheOutlineNamesTheSuspects) {
  const auto session = FileSession::Open(CAIRN_SOURCE_DIR "/viewer/sample.cairn", "").value();
  const Json outline = AskJson(*session, "outline");
  EXPECT_EQ(outline["suspects"], Json::Parse("[1710]"));
  EXPECT_EQ(outline["in_flight"], Json::Parse(R"({"count":1,"numbers":[1710]})"));
}

TEST_F(FileSessionTest, WithoutASecondFileThereIsNothingToCompare) {
  const auto session = FileSession::Open(kTrace, "").value();
  EXPECT_THAT(Ask(*session, "compare").body, HasSubstr("no second file"));
  EXPECT_THAT(Ask(*session, "other-images", {{"frame", "0"}}, true).body,
              HasSubstr("no second file"));
  EXPECT_EQ(Ask(*session, "other-image", {{"name", "a.png"}}).status, 404);
}

TEST_F(FileSessionTest, CallsByAFilter) {
  const auto session = FileSession::Open(kTrace, "").value();
  const std::vector<Json> draws =
      Lines(Ask(*session, "calls", {{"function", "DrawInstanced"}, {"count", "2"}}));
  ASSERT_EQ(draws.size(), 2u);
  EXPECT_EQ(draws[0]["method"].get<std::string>(), "ID3D12GraphicsCommandList::DrawInstanced");
  // Only the draws behind it.
  const std::string next = std::to_string(draws[0]["number"].get<uint64_t>() + 1);
  const std::vector<Json> rest = Lines(
      Ask(*session, "calls", {{"function", "DrawInstanced"}, {"from", next}, {"count", "1"}}));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0], draws[1]);
  EXPECT_EQ(Lines(Ask(*session, "calls", {{"text", "Async compute"}})).size(), 1u);
  EXPECT_GT(Lines(Ask(*session, "calls", {{"object", "Picture"}})).size(), 1u);
  EXPECT_EQ(Ask(*session, "calls", {{"function", "NoSuchCall"}}).status, 400);
  EXPECT_EQ(Ask(*session, "calls", {{"frame", "77"}}).status, 400);
}

TEST_F(FileSessionTest, AnswersHaveAtMostSoManyLinesAndBytes) {
  constexpr size_t kMost = size_t{16} << 20;
  constexpr size_t kLong = 1'000'000;
  TestTrace trace;
  for (int i = 0; i < 2500; ++i) trace.Note(NoteKind::kIncomplete, "short");
  for (int i = 0; i < 20; ++i) trace.Note(NoteKind::kIncomplete, std::string(kLong, 'n'));
  const std::string path = ::testing::TempDir() + "many-lines.cairn";
  const std::vector<std::byte>& bytes = trace.Bytes();
  ASSERT_TRUE(trace.status().ok()) << trace.status().message();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const auto session = FileSession::Open(path, "").value();
  EXPECT_EQ(Lines(Ask(*session, "calls", {{"first", "0"}, {"count", "5000"}})).size(), 2000u);
  EXPECT_EQ(Lines(Ask(*session, "calls")).size(), 2000u);
  for (const auto& question : {std::map<std::string, std::string>{{"first", "2500"}},
                               std::map<std::string, std::string>{{"text", "nnn"}}}) {
    const PageAnswer answer = Ask(*session, "calls", question);
    EXPECT_EQ(answer.body.back(), '\n');
    EXPECT_GE(answer.body.size(), kMost);
    EXPECT_LT(answer.body.size(), kMost + kLong + 1000);
  }
  std::filesystem::remove(path);
}

TEST_F(FileSessionTest, AnImageHasAtMostSixtyFourMebibytes) {
  constexpr uintmax_t kMost = uintmax_t{64} << 20;
  const std::filesystem::path folder = ::testing::TempDir() + "file_session_test.images";
  std::filesystem::create_directories(folder);
  constexpr const char* kVariables[] = {"TMPDIR", "TMP"};  // of Linux, and of Windows
  std::map<std::string, std::string> before;
  for (const char* const name : kVariables) {
    if (const char* const value = std::getenv(name)) before[name] = value;
    SetVariable(name, folder.string());
  }
  {
    const auto session = FileSession::Open(kTrace, "").value();
    const std::filesystem::path images =
        std::filesystem::directory_iterator(folder)->path() / "images";
    std::filesystem::create_directory(images);
    std::ofstream(images / "a.png") << "a";
    std::filesystem::resize_file(images / "a.png", kMost);
    EXPECT_EQ(Ask(*session, "image", {{"name", "a.png"}}).body.size(), kMost);
    std::filesystem::resize_file(images / "a.png", kMost + 1);
    EXPECT_EQ(Ask(*session, "image", {{"name", "a.png"}}).status, 404);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  for (const char* const name : kVariables) {
    before.contains(name) ? SetVariable(name, before[name]) : ClearVariable(name);
  }
}

TEST_F(FileSessionTest, StateAndObjects) {
  const auto session = FileSession::Open(kTrace, "").value();
  const std::vector<Json> draws =
      Lines(Ask(*session, "calls", {{"function", "DrawInstanced"}, {"count", "1"}}));
  const Json state =
      AskJson(*session, "state", {{"call", std::to_string(draws[0]["number"].get<uint64_t>())}});
  EXPECT_THAT(state["pipeline"]["text"].get<std::string>(), HasSubstr("Opaque"));
  const Json objects = AskJson(*session, "objects");
  EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/objects.schema.json"),
                            objects),
            "");
  EXPECT_EQ(objects["made"].get<uint64_t>(), 20u);
}

TEST_F(FileSessionTest, QuestionsThatAreNoneAreRefused) {
  const auto session = FileSession::Open(kTrace, "").value();
  EXPECT_EQ(Ask(*session, "nothing").status, 404);
  EXPECT_EQ(Ask(*session, "nothing", {}, true).status, 404);
  EXPECT_EQ(Ask(*session, "calls", {}, true).status, 404);  // no order
  EXPECT_EQ(Ask(*session, "images").status, 404);           // no question
  EXPECT_EQ(Ask(*session, "state").status, 400);
  EXPECT_EQ(Ask(*session, "calls", {{"count", "many"}}).status, 400);
  EXPECT_EQ(Ask(*session, "compare").status, 400);
  EXPECT_EQ(Ask(*session, "image", {{"name", "../output"}}).status, 400);
  EXPECT_EQ(Ask(*session, "image", {{"name", "none.png"}}).status, 404);
}

TEST_F(FileSessionTest, ADumpHasItsPageAndNothingBehindIt) {
  const auto session = FileSession::Open(kDump, "").value();
  const PageAnswer page = Ask(*session, "");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.type, StartsWith("text/html"));
  EXPECT_THAT(page.body, HasSubstr("connect-src 'self'"));
  EXPECT_EQ(Ask(*session, "calls").status, 404);
}

TEST_F(FileSessionTest, AFileThatWasReplacedIsNotAskedAnyMore) {
  const std::string path = ::testing::TempDir() + "replaced.cairn";
  std::filesystem::copy_file(kTrace, path, std::filesystem::copy_options::overwrite_existing);
  const auto session = FileSession::Open(path, "").value();
  EXPECT_EQ(Ask(*session, "objects").status, 200);
  std::filesystem::copy_file(kDump, path, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(Ask(*session, "objects").body, HasSubstr("has changed since"));
  EXPECT_THAT(Ask(*session, "state", {{"call", "1"}}).body, HasSubstr("has changed since"));
  EXPECT_THAT(Ask(*session, "images", {{"call", "1"}}, true).body, HasSubstr("has changed since"));
  EXPECT_THAT(Ask(*session, "bisect", {}, true).body, HasSubstr("has changed since"));
  std::filesystem::remove(path);
}

TEST_F(FileSessionTest, NothingIsAnsweredOnceItIsStopped) {
  const auto session = FileSession::Open(kTrace, "").value();
  session->Stop();
  EXPECT_THAT(Ask(*session, "objects").body, HasSubstr("stopped"));
  EXPECT_NE(Ask(*session, "count").status, 200);
  EXPECT_EQ(Ask(*session, "images", {{"call", "1"}}, true).status, 503);
  EXPECT_EQ(Ask(*session, "bisect", {}, true).status, 503);
}

TEST_F(FileSessionTest, FilesThatHoldNothingAreAnError) {
  EXPECT_EQ(FileSession::Open("/nonexistent", "").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(
      FileSession::Open(CAIRN_SOURCE_DIR "/tests/golden/container-v1.cairn", "").status().code(),
      StatusCode::kNotFound);
}

}  // namespace
}  // namespace cairn
