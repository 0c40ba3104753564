// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/probe_question.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace cairn {
namespace {

ProbeQuestion Question() {
  return {
      "game.cairn",
      {"libvkd3d-utils.so.1", "NVIDIA H100"},
      2'000'000'000,
      DeviceFacts{"llvmpipe, 10005:0000", "Mesa 22.3.6", "libvkd3d.so.1", "/usr/lib/a, /usr/lib/b"},
      true,
      {{{Suspect::Kind::kSubmission, 100, 0},
        {Suspect::Kind::kList, 200, 3},
        {Suspect::Kind::kCall, uint64_t{1} << 40, 0}},
       12'345,
       true,
       KeptParts{uint64_t{1} << 40, 3, 7, 20}},
      {400, 12, uint64_t{1} << 33, BytesToRead::kMostBytes}};
}

void ExpectSame(const ProbeQuestion& one, const ProbeQuestion& other) {
  EXPECT_EQ(one.path, other.path);
  EXPECT_EQ(one.on, other.on);
  EXPECT_EQ(one.hang_timeout_ns, other.hang_timeout_ns);
  EXPECT_EQ(one.device, other.device);
  EXPECT_EQ(one.only_device, other.only_device);
  EXPECT_EQ(one.leave.left_out, other.leave.left_out);
  EXPECT_EQ(one.leave.stop_before, other.leave.stop_before);
  EXPECT_EQ(one.leave.parts, other.leave.parts);
  EXPECT_EQ(one.read, other.read);
}

TEST(ProbeQuestion, ArrivesAsItWasAsked) {
  for (const ProbeQuestion& question : {Question(), ProbeQuestion()}) {
    const Result<ProbeQuestion> read = ReadProbeQuestion(WriteProbeQuestion(question));
    ASSERT_TRUE(read.ok()) << read.status().message();
    ExpectSame(question, *read);
  }
}

TEST(ProbeQuestion, WhatIsCutOrTooLongIsRefused) {
  std::vector<std::byte> bytes = WriteProbeQuestion(Question());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(StatusCode::kCorrupt, ReadProbeQuestion(std::span(bytes).first(size)).status().code())
        << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(StatusCode::kCorrupt, ReadProbeQuestion(bytes).status().code());
}

TEST(ProbeQuestion, NonsenseIsRefused) {
  ProbeQuestion question;
  question.leave.left_out = {{Suspect::Kind::kCall, 5, 0}};
  const std::vector<std::byte> good = WriteProbeQuestion(question);
  ASSERT_TRUE(ReadProbeQuestion(good).ok());
  const auto with = [&](size_t at, uint8_t value) {
    std::vector<std::byte> bytes = good;
    bytes.at(at) = std::byte{value};
    return ReadProbeQuestion(bytes).status().code();
  };
  // Three empty texts, the time-out, two flags, the last submission: then the count, and the kind.
  EXPECT_EQ(StatusCode::kCorrupt, with(11, 2));
  EXPECT_EQ(StatusCode::kCorrupt, with(12, 2));
  EXPECT_EQ(StatusCode::kCorrupt, with(21, 2));
  EXPECT_EQ(StatusCode::kCorrupt, with(22, 3));
  EXPECT_EQ(StatusCode::kOk, with(22, 1));
  question.read.size_bytes = BytesToRead::kMostBytes + 1;
  EXPECT_EQ(StatusCode::kCorrupt, ReadProbeQuestion(WriteProbeQuestion(question)).status().code());
  const std::vector<std::byte> ones(100, std::byte{0xff});
  EXPECT_EQ(StatusCode::kCorrupt, ReadProbeQuestion(ones).status().code());
}

}  // namespace
}  // namespace cairn
