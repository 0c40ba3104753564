// SPDX-License-Identifier: Apache-2.0
#include "reader/view/perfetto_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "reader/report/work_states.h"
#include "reader/view/perfetto_trace.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

// Fields of a message, by their numbers: varints and fixed numbers, or bytes.
struct Message {
  std::multimap<uint64_t, uint64_t> numbers;
  std::multimap<uint64_t, std::string> bytes;

  uint64_t Number(uint64_t field) const {
    const auto found = numbers.find(field);
    return found == numbers.end() ? 0 : found->second;
  }
  std::string Bytes(uint64_t field) const {
    const auto found = bytes.find(field);
    return found == bytes.end() ? "" : found->second;
  }
};

uint64_t TakeVarint(std::string_view* rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest->front());
    rest->remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  ADD_FAILURE() << "a number has no end";
  return value;
}

Message Read(std::string_view rest) {
  Message message;
  while (!rest.empty()) {
    const uint64_t tag = TakeVarint(&rest);
    switch (tag & 7) {
      case 0: message.numbers.emplace(tag >> 3, TakeVarint(&rest)); break;
      case 1: {
        uint64_t value = 0;
        for (int i = 0; i < 8; ++i) {
          value |= uint64_t{static_cast<uint8_t>(rest.at(i))} << (8 * i);
        }
        message.numbers.emplace(tag >> 3, value);
        rest.remove_prefix(8);
        break;
      }
      case 2: {
        const uint64_t size = TakeVarint(&rest);
        EXPECT_LE(size, rest.size());
        message.bytes.emplace(tag >> 3, rest.substr(0, size));
        rest.remove_prefix(std::min<uint64_t>(size, rest.size()));
        break;
      }
      default: ADD_FAILURE() << "wire type " << (tag & 7); return message;
    }
  }
  return message;
}

// The data that the UI shows of a trace.
struct Shown {
  struct Event {
    uint64_t time_ns;
    std::string track;
    std::string name;
    std::set<uint64_t> flows;
  };
  std::vector<std::string> tracks;
  std::vector<Event> begins;
  std::vector<Event> instants;
  std::map<std::string, int> open;  // slices that did not end, by track
  std::map<std::string, std::string> last_arguments;
  std::set<std::string> states;  // all values of "state"

  std::vector<std::string> Names(const std::vector<Event>& events) const {
    std::vector<std::string> names;
    for (const Event& event : events) names.push_back(event.track + ": " + event.name);
    return names;
  }
};

Shown Show(std::string_view trace) {
  Shown shown;
  std::map<uint64_t, std::string> tracks;
  std::map<uint64_t, std::string> names;
  std::map<uint64_t, std::string> keys;
  bool first = true;
  const Message file = Read(trace);
  for (const auto& [field, bytes] : file.bytes) {
    EXPECT_EQ(field, 1u);
    const Message packet = Read(bytes);
    EXPECT_EQ(packet.Number(10), 1u);
    EXPECT_EQ(packet.Number(13), first ? 1u : 2u);
    first = false;
    const Message interned = Read(packet.Bytes(12));
    for (const auto& [table, entry] : interned.bytes) {
      const Message text = Read(entry);
      if (table == 2) names[text.Number(1)] = text.Bytes(2);
      if (table == 3) keys[text.Number(1)] = text.Bytes(2);
    }
    if (const std::string described = packet.Bytes(60); !described.empty()) {
      const Message track = Read(described);
      std::string name = track.Bytes(2);
      if (track.bytes.count(3) != 0) name = "process " + Read(track.Bytes(3)).Bytes(6);
      if (track.bytes.count(4) != 0) name = "thread " + Read(track.Bytes(4)).Bytes(5);
      EXPECT_EQ(tracks.count(track.Number(1)), 0u);
      if (track.Number(5) != 0) {
        EXPECT_EQ(tracks.count(track.Number(5)), 1u);
      }
      tracks[track.Number(1)] = name;
      shown.tracks.push_back(name);
    }
    const std::string told = packet.Bytes(11);
    if (told.empty()) continue;
    const Message event = Read(told);
    EXPECT_EQ(tracks.count(event.Number(11)), 1u);
    const std::string track = tracks[event.Number(11)];
    Shown::Event one = {packet.Number(8),
                        track,
                        event.Number(10) != 0 ? names.at(event.Number(10)) : event.Bytes(23),
                        {}};
    for (auto [flow, end] = event.numbers.equal_range(47); flow != end; ++flow) {
      one.flows.insert(flow->second);
    }
    for (auto [argument, end] = event.bytes.equal_range(4); argument != end; ++argument) {
      const Message value = Read(argument->second);
      shown.last_arguments[keys.at(value.Number(1))] =
          value.bytes.count(6) != 0 ? value.Bytes(6) : std::to_string(value.Number(3));
      if (keys.at(value.Number(1)) == "state") shown.states.insert(value.Bytes(6));
    }
    if (event.Number(9) == 1) {
      shown.begins.push_back(one);
      ++shown.open[track];
    } else if (event.Number(9) == 2) {
      EXPECT_GT(shown.open[track]--, 0);
    } else {
      EXPECT_EQ(event.Number(9), 3u);
      shown.instants.push_back(one);
    }
  }
  return shown;
}

std::string DumpBytes(const std::string& golden) {
  const Result<FileReader> file = FileReader::Open(kGolden + golden);
  const Result<Snapshot> snapshot = ReadSnapshot(*file);
  std::string bytes;
  EXPECT_TRUE(ExportDump(*snapshot, [&](std::string_view piece) {
    bytes += piece;
    return true;
  }));
  return bytes;
}

std::string CallBytes(const std::string& golden, ExportedCalls* exported) {
  Result<TraceReader> trace = TraceReader::Open(kGolden + golden);
  std::string bytes;
  const Result<ExportedCalls> result = ExportCalls(
      *trace,
      [&](std::string_view piece) {
        bytes += piece;
        return true;
      },
      [](uint64_t, uint64_t) { return true; });
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (result.ok()) *exported = *result;
  return bytes;
}

TEST(PerfettoTrace, TracksSlicesInstantsAndArrows) {
  std::string bytes;
  PerfettoTrace trace([&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  const uint64_t process = trace.AddProcess(4711, "game\x1b");
  const uint64_t queue = trace.AddTrack("queue", process);
  const uint64_t thread = trace.AddThread(4711, 4712, "render");
  trace.Begin({5, queue, "submission", "one", {7}, {{"frame", uint64_t{300}}}});
  trace.Begin({6, queue, "submission", "one", {}, {{"lists", std::string("a, b")}}});
  trace.Instant({uint64_t{1} << 40, thread, "wait", "two", {7, 1ull << 63}, {}});
  trace.End(9, queue);
  ASSERT_TRUE(trace.Finish());
  const Shown shown = Show(bytes);
  EXPECT_THAT(shown.tracks, ::testing::ElementsAre("process game\\x1b", "queue", "thread render"));
  ASSERT_EQ(shown.begins.size(), 2u);
  EXPECT_EQ(shown.begins[1].name, "one");
  EXPECT_EQ(shown.begins[0].flows, (std::set<uint64_t>{7}));
  ASSERT_EQ(shown.instants.size(), 1u);
  EXPECT_EQ(shown.instants[0].time_ns, uint64_t{1} << 40);
  EXPECT_EQ(shown.instants[0].flows, (std::set<uint64_t>{7, 1ull << 63}));
  EXPECT_EQ(shown.open.at("queue"), 1);
  EXPECT_EQ(shown.last_arguments.at("frame"), "300");
  EXPECT_EQ(shown.last_arguments.at("lists"), "a, b");
}

TEST(PerfettoTrace, EndsWhenNobodyReadsIt) {
  PerfettoTrace trace([](std::string_view) { return false; });
  (void)trace.AddProcess(1, "game");
  EXPECT_FALSE(trace.Finish());
}

TEST(PerfettoExport, ADumpOfEveryKind) {
  for (const std::string golden : {"snapshot-v1.cairn", "snapshot-vulkan-v1.cairn",
                                   "snapshot-d3d12-v1.cairn", "late-fault-h100-v1.cairn"}) {
    const std::string bytes = DumpBytes(golden);
    EXPECT_EQ(bytes, DumpBytes(golden)) << golden;
    const Shown shown = Show(bytes);
    for (const auto& [track, open] : shown.open) EXPECT_EQ(open, 0) << golden << ": " << track;
    EXPECT_FALSE(shown.instants.empty()) << golden;
    EXPECT_THAT(shown.last_arguments, Contains(::testing::Key("signature"))) << golden;
  }
}

TEST(PerfettoExport, QueuesAndWaitsOfADump) {
  const Shown shown = Show(DumpBytes("snapshot-vulkan-v1.cairn"));
  const auto joined = [](const std::vector<Shown::Event>& events, std::set<uint64_t>* flows) {
    for (const Shown::Event& event : events) flows->insert(event.flows.begin(), event.flows.end());
  };
  std::set<uint64_t> flows;
  joined(shown.instants, &flows);
  joined(shown.begins, &flows);
  EXPECT_FALSE(flows.empty());
  EXPECT_THAT(shown.Names(shown.instants), Contains(HasSubstr("submission ")));
  // Words of reports: of works and of waits.
  EXPECT_THAT(shown.states,
              ::testing::IsSupersetOf({std::string(kInFlightWord), std::string(kNotStartedWord),
                                       std::string("never signalled")}));
  for (const std::string& state : shown.states) {
    EXPECT_THAT(state, ::testing::AnyOf(kCompletedWord, kInFlightWord, kNotStartedWord, "unknown",
                                        "satisfied", "will be signalled", "blocked",
                                        "never signalled", "deadlock"));
  }
}

TEST(PerfettoExport, TheCallsOfATrace) {
  ExportedCalls exported;
  const std::string bytes = CallBytes("trace-v1.cairn", &exported);
  const Shown shown = Show(bytes);
  EXPECT_EQ(exported.damaged, 0u);
  EXPECT_GT(exported.calls, 0u);
  EXPECT_EQ(shown.last_arguments.count("call"), 1u);
  size_t calls = 0;
  for (const Shown::Event& event : shown.begins) calls += event.track != "frames" ? 1 : 0;
  EXPECT_EQ(calls, exported.calls);
  EXPECT_THAT(shown.tracks, Contains("frames"));
  ExportedCalls again;
  EXPECT_EQ(bytes, CallBytes("trace-v1.cairn", &again));
  // A trace that was cut: what stands before the cut.
  ExportedCalls cut;
  Show(CallBytes("trace-v1-cut.cairn", &cut));
  EXPECT_GT(cut.calls, 0u);
}

}  // namespace
}  // namespace cairn
