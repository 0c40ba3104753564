// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan layer with recordings and queues used in every way that Vulkan allows, and with devices that
// fault, on the test driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/testing/json.h"
#include "reader/report/work_states.h"
#include "vulkan_icd_report.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VulkanLayerIcd : public IcdTest {
 protected:
  IcdReport Run(const std::string& scenario, const std::string& mode = "full",
                const std::string& icd = "") {
    return RunReported({.scenario = scenario, .mode = mode, .icd = icd});
  }

  // States of the executions of the list with this name, in the report's order.
  static std::vector<std::string> Executions(const IcdReport& report, const std::string& list) {
    std::vector<std::string> states;
    for (const Json& execution : report.json.at("executions")) {
      if (execution.at("name") == list) states.push_back(execution.at("state").get<std::string>());
    }
    return states;
  }
};

TEST_F(VulkanLayerIcd, ListThatRunsManyTimesAtOnce) {
  const IcdReport report = Run("simultaneous");
  EXPECT_THAT(report.candidates, Contains("First")) << Text();
  const std::vector<std::string> states = Executions(report, "Prerecorded");
  ASSERT_FALSE(states.empty()) << Text();
  EXPECT_EQ(states.back(), kInFlightWord) << Text();
}

TEST_F(VulkanLayerIcd, RunsThatHaveNotStarted) {
  const IcdReport report = Run("simultaneous-waiting");
  for (const std::string& state : Executions(report, "Prerecorded")) {
    EXPECT_NE(state, kCompletedWord) << Text();
  }
}

TEST_F(VulkanLayerIcd, ListThatIsSubmittedAgain) {
  const IcdReport report = Run("resubmitted");
  EXPECT_THAT(report.candidates, ElementsAre("First")) << Text();
  EXPECT_EQ(report.states.at("Second"), kNotStartedWord);
}

TEST_F(VulkanLayerIcd, SecondaryCommandBuffers) {
  const IcdReport report = Run("secondaries");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Before"), kCompletedWord);
  EXPECT_EQ(report.states.at("A"), kCompletedWord) << Text();
  EXPECT_EQ(report.states.at("C"), kCompletedWord) << Text();
  EXPECT_EQ(report.states.at("Behind"), kNotStartedWord);
}

TEST_F(VulkanLayerIcd, SecondaryThatMayRunManyTimesAtOnce) {
  const IcdReport report = Run("simultaneous-secondaries");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Before"), kCompletedWord);
  EXPECT_NE(report.states.at("Culprit"), kCompletedWord);
  EXPECT_EQ(report.states.at("Behind"), kNotStartedWord);
}

TEST_F(VulkanLayerIcd, SecondaryExecutedAgain) {
  const IcdReport report = Run("secondary-again");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
}

TEST_F(VulkanLayerIcd, DrawInARenderPass) {
  const IcdReport report = Run("render-pass");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Before"), kCompletedWord);
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
  EXPECT_EQ(report.states.at("Behind"), kNotStartedWord);
}

// Fills are not allowed inside: nothing is claimed about single draws.
TEST_F(VulkanLayerIcd, DrawInARenderPassWithoutBufferMarkers) {
  const IcdReport report = Run("render-pass", "full", "no-buffer-marker");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Before"), kCompletedWord);
  EXPECT_EQ(report.states.at("Behind"), kNotStartedWord);
}

// The loader then has labels and names itself, for instances only.
TEST_F(VulkanLayerIcd, LabelsAndNamesOnADriverWithoutThem) {
  const IcdReport report = Run("overlap", "full", "no-debug-utils");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit", "Second", "Third")) << Text();
  EXPECT_EQ(Executions(report, "Main"), std::vector<std::string>{std::string(kInFlightWord)});
}

#if defined(_WIN32)
// TerminateProcess is an exit to who has no block: docs/reference/windows.md.
TEST_F(VulkanLayerIcd, BreadcrumbsOffLeaveTheProgramAlone) {
  IcdRun run;
  run.scenario = "overlap";
  run.mode = "off";
  EXPECT_EQ(RunCommand(IcdArguments(run), IcdOptions(run, folder_)).exit_code, kExitOfKilled);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a.cairn"));
}
#else
TEST_F(VulkanLayerIcd, BreadcrumbsOffLeaveTheProgramAlone) {
  const IcdReport report = Run("overlap", "off");
  EXPECT_THAT(report.incidents, Contains("signal")) << Text();
  EXPECT_THAT(report.candidates, IsEmpty()) << Text();
  EXPECT_THAT(report.json.at("executions"), IsEmpty()) << Text();
}
#endif

TEST_F(VulkanLayerIcd, QueueThatOnlyCopies) {
  const IcdReport report = Run("transfer-queue");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
  EXPECT_EQ(report.states.at("Last"), kNotStartedWord);
}

// Waits of a semaphore for a value, by the semaphore's name.
std::map<std::string, std::string> WaitStates(const Json& report) {
  std::map<std::string, std::string> states;
  for (const Json& wait : report.at("waits").at("waits")) {
    const Json sync = report.at("syncs").at(wait.at("sync").get<size_t>());
    const Json object = sync.at("object");
    std::string name;
    if (!object.is_null()) {
      name = report.at("objects").at(object.get<size_t>()).at("name").get<std::string>();
    }
    states[name] = wait.at("state").get<std::string>();
  }
  return states;
}

TEST_F(VulkanLayerIcd, WaitsOfQueuesForEachOther) {
  const IcdReport report = Run("wait-graph");
  EXPECT_THAT(report.incidents, Contains("hang")) << Text();
  const std::map<std::string, std::string> states = WaitStates(report.json);
  ASSERT_TRUE(states.contains("Never")) << Text();
  EXPECT_EQ(states.at("Never"), "never signalled") << Text();
  EXPECT_EQ(states.at("First"), "blocked") << Text();
  EXPECT_NE(report.states.at("Draws"), kCompletedWord);
  EXPECT_NE(report.states.at("Computes"), kCompletedWord);
}

// Checks the layer's additions to instances and devices, as the driver received them: the tables of
// docs/reference/vulkan-layer.md.
class VulkanLayerAdditions : public VulkanLayerIcd {
 protected:
  // A short run of a program that enables no extension of devices, and three structures of features.
  IcdReport Run(const std::string& mode, const std::string& icd, const std::string& device_fault) {
    return RunOnTestDriver(
        {.scenario = "device-lost", .mode = mode, .icd = icd, .device_fault = device_fault},
        folder_);
  }
  // Lines of what was received that start with the word, without it.
  std::vector<std::string> Received(const std::string& word) const {
    std::vector<std::string> found;
    std::istringstream lines(ReadFile(folder_.path() / "requests"));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(word)) found.push_back(line.substr(word.size() + 1));
    }
    return found;
  }
};

TEST_F(VulkanLayerAdditions, OnNvidiaTheFeatureThatHidesLossesStaysOff) {
  const IcdReport report = Run("top", "nvidia", "");
  EXPECT_THAT(Received("instance extension"), ElementsAre("VK_EXT_debug_utils"));
  EXPECT_THAT(Received("device extension"),
              ElementsAre("VK_AMD_buffer_marker", "VK_EXT_external_memory_host",
                          "VK_EXT_device_address_binding_report"));
  EXPECT_THAT(Received("device feature"), ElementsAre("reportAddressBinding"));
  EXPECT_EQ(SourceOf(report, "VK_EXT_device_fault"),
            "absent: left off: with this feature NVIDIA's driver hides device losses and lets work "
            "finish that faulted; CAIRN_DEVICE_FAULT=on enables it");
}

TEST_F(VulkanLayerAdditions, OnNvidiaInModeFullCheckpointsAreAddedAndNothingElse) {
  const IcdReport report = Run("full", "nvidia", "auto");
  EXPECT_THAT(
      Received("device extension"),
      ElementsAre("VK_AMD_buffer_marker", "VK_EXT_external_memory_host",
                  "VK_NV_device_diagnostic_checkpoints", "VK_EXT_device_address_binding_report"));
  EXPECT_THAT(Received("device feature"), ElementsAre("reportAddressBinding"));
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_THAT(report.incidents, Contains("device lost")) << Text();
  EXPECT_THAT(Text(), ::testing::Not(HasSubstr("the dispatch before the one in flight")));
}

TEST_F(VulkanLayerAdditions, OnNvidiaTheFeatureCanBeAskedForAndTheReportWarns) {
  const IcdReport report = Run("full", "nvidia", "on");
  EXPECT_THAT(Received("device extension"), Contains("VK_EXT_device_fault"));
  EXPECT_THAT(Received("device feature"),
              ElementsAre("reportAddressBinding", "deviceFault", "deviceFaultVendorBinary"));
  EXPECT_EQ(SourceOf(report, "VK_EXT_device_fault"),
            "present: asked for after a device loss; with the feature of VK_EXT_device_fault this "
            "driver hides device losses, and lets work finish that faulted");
  EXPECT_THAT(Text(), HasSubstr("the dispatch before the one in flight may be the culprit"));
}

TEST_F(VulkanLayerAdditions, OnADriverOfWhichNothingIsKnownTheFeatureStaysOff) {
  const IcdReport report = Run("top", "", "auto");
  EXPECT_THAT(Received("device feature"), ElementsAre("reportAddressBinding"));
  EXPECT_EQ(SourceOf(report, "VK_EXT_device_fault"),
            "absent: left off: nobody has shown that this feature does no harm with this driver; "
            "CAIRN_DEVICE_FAULT=on enables it");
}

TEST_F(VulkanLayerAdditions, WhereItIsKnownToDoNoHarmTheFeatureIsOnUnlessTurnedOff) {
  const IcdReport on = Run("top", "radv", "auto");
  EXPECT_THAT(Received("device feature"), ElementsAre("reportAddressBinding", "deviceFault"));
  EXPECT_EQ(SourceOf(on, "VK_EXT_device_fault"), "present: asked for after a device loss");
  std::filesystem::remove(folder_.path() / "requests");
  const IcdReport off = Run("top", "radv", "off");
  EXPECT_THAT(Received("device feature"), ElementsAre("reportAddressBinding"));
  EXPECT_EQ(SourceOf(off, "VK_EXT_device_fault"), "absent: left off by CAIRN_DEVICE_FAULT=off");
}

TEST_F(VulkanLayerAdditions, WithBreadcrumbsOffNothingIsAdded) {
  static_cast<void>(Run("off", "nvidia", "on"));
  EXPECT_THAT(Received("device extension"), IsEmpty());
  EXPECT_THAT(Received("device feature"), IsEmpty());
}

TEST_F(VulkanLayerAdditions, NoStructureIsAddedBesideTheFeaturesThatAreListed) {
  static_cast<void>(Run("off", "nvidia", "on"));
  const std::vector<std::string> without = Received("device structure");
  ASSERT_FALSE(without.empty());
  std::filesystem::remove(folder_.path() / "requests");
  static_cast<void>(Run("full", "nvidia", "on"));
  EXPECT_EQ(Received("device structure"), without);
}

class VulkanLayerFaults : public VulkanLayerIcd {
 protected:
  // The first address of the first fault.
  Json Address(const IcdReport& report) {
    return report.json.at("faults").at(0).at("addresses").at(0);
  }
  // Names of the objects that own it or owned it.
  std::vector<std::string> Owners(const IcdReport& report) {
    std::vector<std::string> names;
    for (const Json& owner : Address(report).at("owners")) {
      const size_t object = owner.at("object").get<size_t>();
      names.push_back(report.json.at("objects").at(object).at("name").get<std::string>());
    }
    return names;
  }
};

TEST_F(VulkanLayerFaults, AddressOfABuffer) {
  const IcdReport report = Run("fault-owned");
  EXPECT_THAT(report.incidents, Contains("device lost")) << Text();
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  ASSERT_FALSE(report.json.at("faults").empty()) << Text();
  EXPECT_EQ(Address(report).at("type"), "invalid write");
  EXPECT_EQ(Address(report).at("state"), "owned") << Text();
  EXPECT_THAT(Owners(report), Contains("Particles")) << Text();
}

// By the program's only thread, which on Linux has the number of its process.
void ExpectMainThread(const Json& destruction, const IcdReport& report) {
#if defined(_WIN32)
  EXPECT_NE(destruction.at("thread").get<int64_t>(), 0) << destruction;
  static_cast<void>(report);
#else
  EXPECT_EQ(destruction.at("thread"), report.json.at("process").at("id")) << destruction;
#endif
}

TEST_F(VulkanLayerFaults, AddressOfABufferThatWasFreed) {
  const IcdReport report = Run("fault-freed");
  ASSERT_FALSE(report.json.at("faults").empty()) << Text();
  EXPECT_EQ(Address(report).at("state"), "freed") << Text();
  EXPECT_THAT(Owners(report), Contains("Freed")) << Text();
  for (const Json& owner : Address(report).at("owners")) {
    ExpectMainThread(owner.at("destruction"), report);
    EXPECT_GT(owner.at("destruction").at("before_incident_ns").get<int64_t>(), 0) << owner;
    EXPECT_TRUE(owner.at("destruction").at("submission").is_null()) << "nothing was submitted";
  }
  EXPECT_THAT(Text(), HasSubstr(" by thread "));
}

TEST_F(VulkanLayerFaults, AddressOfALivingBufferWhoseMemoryWasFreed) {
  const IcdReport report = Run("fault-memory-freed", "full", "no-address-binding");
  ASSERT_FALSE(report.json.at("faults").empty()) << Text();
  EXPECT_EQ(Address(report).at("state"), "freed") << Text();
  EXPECT_THAT(Owners(report), ElementsAre("Orphan")) << Text();
  const Json destruction = Address(report).at("owners").at(0).at("destruction");
  EXPECT_EQ(destruction.at("cause").at("kind"), "device memory") << destruction;
  ExpectMainThread(destruction, report);
}

TEST_F(VulkanLayerFaults, AddressThatWasNeverMapped) {
  const IcdReport report = Run("fault-never-mapped");
  ASSERT_FALSE(report.json.at("faults").empty()) << Text();
  EXPECT_EQ(Address(report).at("state"), "never mapped") << Text();
  EXPECT_THAT(Owners(report), IsEmpty());
  const Json below = Address(report).at("below");
  ASSERT_TRUE(below.is_object()) << Text();
  // The buffer, or the memory that it fills: 4 KiB, 32 KiB below the address.
  const Json nearest = report.json.at("objects").at(below.at("object").get<size_t>());
  EXPECT_EQ(nearest.at("size"), 4096);
  EXPECT_EQ(below.at("distance"), "0x7000") << Text();
}

TEST_F(VulkanLayerFaults, WithoutTheBindingReportAddressesOfBuffersAreKnownAllTheSame) {
  const IcdReport report = Run("fault-owned", "full", "no-address-binding");
  ASSERT_FALSE(report.json.at("faults").empty()) << Text();
  EXPECT_EQ(Address(report).at("state"), "owned") << Text();
  EXPECT_THAT(Owners(report), Contains("Particles")) << Text();
}

TEST_F(VulkanLayerFaults, NoAddress) {
  const IcdReport report = Run("fault-without-address");
  EXPECT_THAT(report.incidents, Contains("device lost")) << Text();
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
}

TEST_F(VulkanLayerFaults, WithoutTheFaultExtension) {
  const IcdReport report = Run("fault-owned", "full", "no-device-fault");
  EXPECT_THAT(report.incidents, Contains("device lost")) << Text();
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
}

TEST_F(VulkanLayerFaults, VendorInfosAndBinary) {
  const IcdReport report = Run("vendor-binary");
  ASSERT_EQ(report.json.at("faults").size(), 1u) << Text();
  const Json fault = report.json.at("faults").at(0);
  ASSERT_EQ(fault.at("vendor_infos").size(), 1u) << Text();
  EXPECT_EQ(fault.at("vendor_infos").at(0).at("description"), "page table walk");
  EXPECT_EQ(fault.at("vendor_binary_kept"), true) << Text();
  EXPECT_GT(fault.at("vendor_binary_bytes").get<size_t>(), sizeof("the bytes of the vendor"));
  EXPECT_EQ(Address(report).at("type"), "invalid execution");
}

// Files of `folder` that contain the text.
std::vector<std::string> FilesWith(const std::filesystem::path& folder, const std::string& text) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && ReadFile(entry.path()).find(text) != std::string::npos) {
      names.push_back(entry.path().filename().string());
    }
  }
  return names;
}

TEST_F(VulkanLayerFaults, VendorBinaryAndShadersComeOutOfTheFile) {
  ASSERT_TRUE(Run("vendor-binary").json.is_object());
  const CommandResult result = RunCommand(
      {Program("cairn"), "report", "--extract", folder_ / "parts", folder_ / "a.cairn"}, {});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(FilesWith(folder_.path() / "parts", "the bytes of the vendor").size(), 1u);
  // The module of the program's pipeline: its first word.
  EXPECT_EQ(FilesWith(folder_.path() / "parts", "\x03\x02\x23\x07").size(), 1u);
}

TEST_F(VulkanLayerFaults, MaskedFaultIsToldWithTheLossThatFollows) {
  const IcdReport report = Run("masked-fault");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Scribbler"), kCompletedWord);
  ASSERT_FALSE(report.json.at("faults").empty()) << Text();
  EXPECT_THAT(Owners(report), Contains("Scribbled on")) << Text();
}

// The driver tells of a fault, and only a barrier was left: some work that finished must have made it.
TEST_F(VulkanLayerFaults, AFaultThatNothingRunningCanHaveMadeNamesTheLastShaderWork) {
  const IcdReport report = Run("masked-fault-at-the-end");
  ASSERT_FALSE(report.json.at("faults").empty()) << Text();
  EXPECT_THAT(report.candidates, IsEmpty()) << Text();
  EXPECT_THAT(report.late_suspects, ElementsAre("Scribbler")) << Text();
  EXPECT_THAT(Run("masked-fault").late_suspects, IsEmpty()) << Text();
  EXPECT_THAT(Run("masked-fault-at-the-end", "top").late_suspects, IsEmpty()) << Text();
}

TEST_F(VulkanLayerFaults, AFetchThatTheGpuWentOnBehindIsOfTheDrawThatHadFinished) {
  struct Row {
    const char* scenario;
    const char* point;
    const char* icd;
  };
  for (const Row& row : {Row{"masked-fetch-of-vertices", "vertex buffer", ""},
                         Row{"masked-fetch-of-vertices", "vertex buffer", "no-address-binding"},
                         Row{"masked-fetch-of-indices", "index buffer", ""}}) {
    const IcdReport report = Run(row.scenario, "full", row.icd);
    ASSERT_FALSE(report.json.at("faults").empty()) << Text();
    EXPECT_THAT(report.candidates, IsEmpty()) << Text();
    EXPECT_EQ(report.states.at("Foliage"), kCompletedWord);
    const Json verdict = report.json.at("verdict");
    EXPECT_EQ(verdict.at("kind"), "GPU fault");
    EXPECT_EQ(verdict.at("how_sure"), "likely") << Text();
    ASSERT_EQ(verdict.at("suspects").size(), 2u) << Text();
    const Json first = verdict.at("suspects").at(0);
    EXPECT_EQ(first.at("reason"), "leads to the fault");
    const Json binding = first.at("binding");
    EXPECT_EQ(binding.at("point"), row.point);
    EXPECT_EQ(binding.at("slot"), 0);
    EXPECT_EQ(binding.at("state"), "destroyed");
    EXPECT_LT(binding.at("destroyed_after_ns").get<int64_t>(), 0);
    EXPECT_EQ(binding.at("since_submission"), true);
    ExpectMainThread(binding.at("destruction"), report);
    const Json object = report.json.at("objects").at(binding.at("object").get<size_t>());
    EXPECT_EQ(object.at("name"), "Victim");
    EXPECT_NE(object.at("gpu_address"), "0x0");
    EXPECT_THAT(verdict.at("sentence").get<std::string>(),
                HasSubstr(" in DRAW_INDEXED #1 (3 indices, 1 instance) (likely); "));
    EXPECT_THAT(verdict.at("sentence").get<std::string>(), HasSubstr("where: Foliage · "));
    EXPECT_EQ(verdict.at("suspects").at(1).at("reason"), "finished by its word");
    EXPECT_THAT(report.late_suspects, ElementsAre("Lighting"));
  }
}

TEST_F(VulkanLayerFaults, CheckpointsAgreeWithTheWords) {
  const IcdReport report = Run("device-lost");
  ASSERT_FALSE(report.json.at("checkpoints").empty()) << Text();
  for (const Json& checkpoint : report.json.at("checkpoints")) {
    EXPECT_THAT(checkpoint.at("relation"), ::testing::AnyOf("agrees", "tells more", "not compared"))
        << Text();
  }
}

TEST_F(VulkanLayerFaults, CheckpointsTellOfMarkersThatAreMissing) {
  const IcdReport report = Run("lost-top-and-device");
  std::vector<std::string> relations;
  for (const Json& checkpoint : report.json.at("checkpoints")) {
    relations.push_back(checkpoint.at("relation").get<std::string>());
  }
  EXPECT_THAT(relations, Contains("contradicts the words, which are behind")) << Text();
}

TEST_F(VulkanLayerFaults, WithoutAnyExtensionOfDrivers) {
  const IcdReport report =
      Run("device-lost", "full",
          "no-buffer-marker,no-host-import,no-checkpoints,no-device-fault,no-address-binding");
  EXPECT_THAT(report.incidents, Contains("device lost")) << Text();
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
}

TEST_F(VulkanLayerIcd, KilledFromOutsideWhileItHangs) {
  IcdRun run;
  run.scenario = "hang";
  run.hang_timeout_s = "0";
  Command command(IcdArguments(run), IcdOptions(run, folder_));
  const pid_t pid = command.WaitUntilReady();
  ASSERT_GT(pid, 0);
  KillProcess(pid);
  EXPECT_EQ(command.Wait().exit_code, kExitOfKilled);
  const IcdReport report = ReadIcdReport(folder_);
  EXPECT_THAT(report.incidents, Contains("signal")) << Text();
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
}

// Returns the text of this row of the answer; "" if there is none.
std::string RowOf(const IcdReport& report, const std::string& label) {
  for (const Json& row : report.json.at("verdict").at("answer").at("rows")) {
    if (row.at("label") == label) return row.at("text").get<std::string>();
  }
  return "";
}

// Nobody asks the GPU for times: the program waited for each fence.
TEST_F(VulkanLayerIcd, WorkLikeThatOfTheHangEndedBefore) {
  const IcdReport report = Run("hang-behind-others");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  const Json& duration = report.json.at("verdict").at("duration");
  ASSERT_FALSE(duration.is_null()) << Text();
  EXPECT_EQ(duration.at("count"), 5) << Text();
  const auto ns = [&](const char* key) { return duration.at(key).get<uint64_t>(); };
  EXPECT_LE(ns("median_ns"), ns("longest_ns"));
  EXPECT_GE(ns("unfinished_ns"), 300'000'000u) << "the watchdog's time-out";
  EXPECT_THAT(RowOf(report, "duration"), HasSubstr("(median of 5, the longest ")) << Text();
  size_t ended = 0;
  for (const Json& submission : report.json.at("submissions")) {
    ended += submission.at("ended").is_null() ? 0 : 1;
  }
  EXPECT_EQ(ended, 5u) << Text();
}

TEST_F(VulkanLayerIcd, MemoryThatRanOutBeforeTheLoss) {
  const IcdReport report = Run("out-of-memory");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  ASSERT_EQ(report.json.at("memory").size(), 1u) << Text();
  const Json& memory = report.json.at("memory").at(0);
  EXPECT_EQ(memory.at("result"), -2);
  EXPECT_EQ(memory.at("function"), "vkAllocateMemory");
  EXPECT_EQ(memory.at("failures"), 2);
  EXPECT_EQ(memory.at("wanted"), uint64_t{6} << 30);
  EXPECT_EQ(memory.at("exhausted"), true);
  ASSERT_EQ(memory.at("heaps").size(), 2u);
  EXPECT_EQ(memory.at("heaps").at(0).at("device_local"), true);
  EXPECT_EQ(memory.at("heaps").at(0).at("tells_use"), true);
  EXPECT_EQ(memory.at("heaps").at(0).at("size"), uint64_t{4} << 30);
  EXPECT_EQ(memory.at("heaps").at(0).at("budget"), (uint64_t{4} << 30) / 8 * 7);
  const auto used_bytes = memory.at("heaps").at(0).at("used").get<uint64_t>();
  EXPECT_GE(used_bytes, uint64_t{1} << 20) << "of the buffer that was kept";
  EXPECT_LT(used_bytes, uint64_t{1} << 30) << "what failed is not counted";
  EXPECT_THAT(report.json.at("verdict").at("answer").at("headline").get<std::string>(),
              HasSubstr("Device lost (VK_ERROR_DEVICE_LOST) after memory ran out"));
  EXPECT_THAT(RowOf(report, "memory"),
              HasSubstr("vkAllocateMemory failed with VK_ERROR_OUT_OF_DEVICE_MEMORY (6 GiB asked "
                        "for), the last of 2 such failures; heap 0 (device-local): "));
}

TEST_F(VulkanLayerIcd, MemoryOfADriverWithoutBudgets) {
  const IcdReport report = Run("out-of-memory", "full", "no-VK_EXT_memory_budget");
  ASSERT_EQ(report.json.at("memory").size(), 1u) << Text();
  const Json& heap = report.json.at("memory").at(0).at("heaps").at(0);
  EXPECT_EQ(heap.at("tells_use"), false);
  EXPECT_EQ(heap.at("size"), uint64_t{4} << 30);
  EXPECT_EQ(heap.at("used"), 0);
}

// A loss alone is no want of memory.
TEST_F(VulkanLayerIcd, MemoryAtALossIsNoReasonForIt) {
  const IcdReport report = Run("device-lost");
  ASSERT_EQ(report.json.at("memory").size(), 1u) << Text();
  EXPECT_EQ(report.json.at("memory").at(0).at("exhausted"), false);
  EXPECT_EQ(report.json.at("memory").at(0).at("result"), 0);
  EXPECT_EQ(RowOf(report, "memory"), "");
}

TEST_F(VulkanLayerIcd, ObjectsWithoutANameAreTold) {
  const IcdReport report = Run("fault-unnamed");
  EXPECT_THAT(RowOf(report, "fault"), HasSubstr("in buffer 64 KiB #")) << Text();
}

}  // namespace
}  // namespace cairn::testing
