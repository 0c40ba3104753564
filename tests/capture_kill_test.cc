// SPDX-License-Identifier: Apache-2.0
//
// Kills of captured programs at random moments: each leaves a whole file with every record up to the
// death, and the calls that never returned. CAIRN_KILLS says how many (tests/soak runs 200),
// CAIRN_KILL_SEED repeats a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "d3d12gen/roles.h"
#include "format/block/capture_region.h"
#include "format/model/call_kinds.h"
#include "format/trace/trace_reader.h"
#include "format/trace/verify.h"
#include "harness.h"

namespace cairn::testing {
namespace {

constexpr uint32_t kDefaultSeed = 20261121;
constexpr uint32_t kDefaultKills = 4;
// From the moment that the watcher writes the file.
constexpr uint32_t kLatestMoment_ms = 1500;

uint32_t Setting(const char* name, uint32_t otherwise) {
  const char* const chosen = std::getenv(name);
  return chosen == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(chosen, nullptr, 10));
}

class CaptureKillTest : public ::testing::Test {
 protected:
  CommandResult RunAndKill(uint32_t moment_ms) {
    Command command({Program("cairn"), "run", "--capture", "-o", "a.cairn", "--",
                     Program("sample-scale-d3d12-plain"), "--frames", "1000000"},
                    {.folder = folder_.path(), .environment = {"VKD3D_DEBUG=none"}});
    // The file is there when the capture is; the moment itself is a matter of chance.
    while (!std::filesystem::exists(folder_ / "a.cairn.part") && IsRunning(command.pid())) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(moment_ms));
    kill(ChildOf(command.pid()), SIGKILL);
    return command.Wait();
  }

  TemporaryFolder folder_;
};

TEST_F(CaptureKillTest, EachKillLeavesAWholeTrace) {
  const uint32_t seed = Setting("CAIRN_KILL_SEED", kDefaultSeed);
  const uint32_t kills = Setting("CAIRN_KILLS", kDefaultKills);
  std::printf("CAIRN_KILL_SEED=%u repeats this run\n", seed);
  std::mt19937 random(seed);
  for (uint32_t i = 0; i < kills && !HasFailure(); ++i) {
    const uint32_t moment_ms = random() % kLatestMoment_ms;
    SCOPED_TRACE("kill " + std::to_string(i) + " after " + std::to_string(moment_ms) + " ms");
    const CommandResult result = RunAndKill(moment_ms);
    EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.Summary();
    EXPECT_THAT(result.errors, ::testing::HasSubstr("captured: "));
    ASSERT_THAT(folder_.Contents(), ::testing::ElementsAre("a.cairn"));

    Result<TraceReader> trace = TraceReader::Open(folder_ / "a.cairn", Check::kPayloads);
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    EXPECT_TRUE(trace->finished());
    EXPECT_THAT(trace->losses(), ::testing::IsEmpty());
    // One thread calls: nothing is missing before the last record, but numbers that it took at once behind a command of
    // a list, or a blob, and did not use.
    const auto takes_several = [&](const Record& record) {
      if (record.kind != RecordKind::kCall) return record.kind == RecordKind::kBlob;
      const std::optional<Method> method = trace->MethodOf(record);
      return method && IsCommand(RoleOf(*method));
    };
    TraceCursor cursor(*trace);
    Record record;
    uint64_t number = 0;
    bool took_several = false;
    while (cursor.Next(&record)) {
      const uint64_t unused = took_several ? kMostLeased - 1 : 0;
      ASSERT_GT(record.number, number);
      ASSERT_LE(record.number - number - 1, unused) << record.number;
      number = record.number;
      took_several = takes_several(record);
    }
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().message();
    EXPECT_GT(number, 0u);

    const Result<VerifyReport> report = VerifyTrace(&*trace, {});
    ASSERT_TRUE(report.ok()) << report.status().message();
    for (const Finding& finding : report->findings) {
      EXPECT_EQ(finding.severity, Severity::kNote) << finding.record << ": " << finding.text;
    }
    std::filesystem::remove(folder_ / "a.cairn");
  }
}

}  // namespace
}  // namespace cairn::testing
