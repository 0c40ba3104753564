// SPDX-License-Identifier: Apache-2.0
#include "reader/report/words.h"

#include <gtest/gtest.h>

#include "base/signal_name.h"

namespace cairn {
namespace {

TEST(Words, DeviceLostCodesAreWrittenAsTheirApiDoes) {
  EXPECT_EQ(DeviceLostCodeInWords(-4), "VK_ERROR_DEVICE_LOST (-4)");
  EXPECT_EQ(DeviceLostCodeInWords(2), "VK_TIMEOUT (2)");
  EXPECT_EQ(DeviceLostCodeInWords(static_cast<int32_t>(0x887A0005)),
            "DXGI_ERROR_DEVICE_REMOVED (0x887a0005)");
  EXPECT_EQ(DeviceLostCodeInWords(static_cast<int32_t>(0x887A0007)),
            "DXGI_ERROR_DEVICE_RESET (0x887a0007)");
  EXPECT_EQ(DeviceLostCodeInWords(static_cast<int32_t>(0x80131509)), "code 0x80131509");
  EXPECT_EQ(DeviceLostCodeInWords(-1000001004), "VK_ERROR_OUT_OF_DATE_KHR (-1000001004)");
  EXPECT_EQ(DeviceLostCodeInWords(-99), "code -99");
  EXPECT_EQ(DeviceLostCodeName(static_cast<int32_t>(0x80070005)), "E_ACCESSDENIED");
  // No loss is a success: neither S_OK nor S_FALSE, which is VK_NOT_READY.
  EXPECT_EQ(DeviceLostCodeName(0), "");
  EXPECT_EQ(DeviceLostCodeName(1), "VK_NOT_READY");
  // Not the low half of a larger number.
  EXPECT_EQ(DeviceLostCodeName((int64_t{-7} << 32) + 0x80070005), "");
}

TEST(Words, OfADeathItIsSaidWhoseKillItWasAndWhichMomentIsTold) {
  Snapshot snapshot;
  Incident killed;
  killed.kind = IncidentKind::kSignal;
  killed.value = 9;
  EXPECT_EQ(IncidentSentence(snapshot, killed),
            "The program died of signal 9 (SIGKILL), which Cairn did not send.");
  Incident fault;
  fault.kind = IncidentKind::kSignal;
  fault.value = 11;
  fault.address = 0x10;
  fault.detail = snapshot.AddText("the report shows the state at that moment");
  EXPECT_EQ(
      IncidentSentence(snapshot, fault),
      "The program died of signal 11 (SIGSEGV) at address 0x10; the report shows the state at "
      "that moment.");
}

TEST(Words, AnIncidentIsTimedAsTheRestOfTheReport) {
  Snapshot snapshot;
  Incident hang{.kind = IncidentKind::kHang, .value = 2000, .time_ns = 1'700'000'003'250'000'000};
  hang.detail = snapshot.AddText("--kill-on-hang");
  EXPECT_EQ(
      IncidentSentence(snapshot, hang),
      "The watchdog saw a hang at 2023-11-14 22:13:23.250 UTC: submitted work made no progress "
      "for 2 s. It then ended the program (--kill-on-hang).")
      << "the start is not known";
  snapshot.process.start_time_ns = 1'700'000'000'000'000'000;
  hang.detail = {};
  EXPECT_EQ(IncidentSentence(snapshot, hang),
            "The watchdog saw a hang 3.250 s after the program started: submitted work made no "
            "progress for 2 s.");
}

TEST(Words, DurationsAreRoundedToTheNextUnit) {
  EXPECT_EQ(DurationInWords(999'400), "999 µs");
  EXPECT_EQ(DurationInWords(999'600), "1 ms");
  EXPECT_EQ(DurationInWords(-999'600'000), "0.9996 s");
}

TEST(Words, EachModeSaysWhatItConcludes) {
  EXPECT_EQ(ModeWord(MarkerMode::kExact), "exact");
  EXPECT_EQ(ModeSentence(MarkerMode::kExact),
            "Mode exact lets no work of a queue overlap: the GPU runs one command at a time, and "
            "records its end behind a barrier; in a render pass that cannot be split all "
            "commands count as one piece.");
}

// Programs read both: docs/formats/report.schema.json.
TEST(Words, HowSureAndTheWordOfBefore) {
  struct Row {
    Certainty certainty;
    const char* word;
    const char* old_word;
  };
  for (const Row& row :
       {Row{Certainty::kProven, "proven", "proved"}, Row{Certainty::kLikely, "likely", "ranked"},
        Row{Certainty::kOneOf, "one of", "one of"},
        Row{Certainty::kNothingRunning, "nothing running", "nothing running"},
        Row{Certainty::kAllCompleted, "all completed", "all finished"},
        Row{Certainty::kUnknown, "unknown", "not known"}}) {
    EXPECT_EQ(CertaintyWord(row.certainty), row.word);
    EXPECT_EQ(OldCertaintyWord(row.certainty), row.old_word);
  }
}

TEST(Words, NumbersFromAFileHaveAnAnswer) {
  EXPECT_EQ(ApiWord(static_cast<Api>(99)), "unknown");
  EXPECT_EQ(ModeWord(static_cast<MarkerMode>(99)), "unknown");
  EXPECT_EQ(MemoryWord(static_cast<WordMemory>(99)), "unknown");
  EXPECT_EQ(SourceStateWord(static_cast<SourceState>(99)), "unknown");
  EXPECT_EQ(MethodName(static_cast<WriteMethod>(99)), "unknown method");
  EXPECT_EQ(QueueTypeWord(99), "unknown");
  EXPECT_EQ(SignalName(99), "");
  Device device;
  device.memory = static_cast<WordMemory>(99);
  EXPECT_FALSE(MemorySentence(device).empty());
  EXPECT_FALSE(ModeSentence(static_cast<MarkerMode>(99)).empty());
  Snapshot snapshot;
  Incident incident;
  incident.kind = static_cast<IncidentKind>(99);
  EXPECT_EQ(IncidentSentence(snapshot, incident),
            "Something happened that this version does not know (incident 99).");
}

TEST(Words, TimesAreInUtc) {
  EXPECT_EQ(TimeInWords(1'700'000'005'250'000'000), "2023-11-14 22:13:25.250 UTC");
  EXPECT_EQ(MillisecondsInWords(10'000), "10 s");
  EXPECT_EQ(MillisecondsInWords(250), "0.25 s");
}

}  // namespace
}  // namespace cairn
