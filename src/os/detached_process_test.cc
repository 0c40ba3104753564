// SPDX-License-Identifier: Apache-2.0
#include "os/detached_process.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "os/channel.h"
#include "os/testing/test_role.h"

namespace cairn {
namespace {

constexpr uint64_t kLongNs = 60'000'000'000;

std::string Text(const ChannelMessage& message) {
  return std::string(reinterpret_cast<const char*>(message.data.data()), message.size_bytes);
}

const TestRole says_here("says-here", [](const TestWords& words) {
  const std::string_view text = "here";
  const RawHandle end = TakeInherited(std::stoull(words.at(0))).Release();
  return SendOver(end, std::as_bytes(std::span(text))).ok() ? 0 : 1;
});
// Starts one that answers once this process is gone.
const TestRole starts_detached("starts-detached", [](const TestWords& words) {
  const RawHandle end = TakeInherited(std::stoull(words.at(0))).Release();
  const bool failed = static_cast<bool>(StartDetached(
      ArgumentsOfRole("answers-later",
                      {std::to_string(NumberInDetached(end)), std::to_string(OwnProcessId())}),
      end));
  return failed ? 1 : 0;
});
const TestRole answers_later("answers-later", [](const TestWords& words) {
  const Result<ProcessHandle> starter = OpenProcess(std::stoll(words.at(1)));
  if (starter.ok()) (void)EndOf(*starter);
  const std::string_view text = "alive";
  const RawHandle end = TakeInherited(std::stoull(words.at(0))).Release();
  return SendOver(end, std::as_bytes(std::span(text))).ok() ? 0 : 1;
});

TEST(AnyDetachedProcess, HasTheHandleAndItsNumber) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  const RawHandle end = ends->second.get();
  ASSERT_FALSE(
      StartDetached(ArgumentsOfRole("says-here", {std::to_string(NumberInDetached(end))}), end));
  ends->second.Close();
  ChannelMessage message;
  ASSERT_EQ(ReceiveWithin(ends->first.get(), kLongNs, &message), Received::kMessage);
  EXPECT_EQ(Text(message), "here");
  // The process ends, and closes its handles.
  EXPECT_EQ(ReceiveWithin(ends->first.get(), kLongNs, &message), Received::kClosed);
}

TEST(AnyDetachedProcess, OutlivesWhoStartedIt) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  SpawnRequest request;
  request.arguments = ArgumentsOfRole("starts-detached", {std::to_string(ends->second.get())});
  request.inherited = &ends->second;
  const Result<ProcessHandle> starter = SpawnProgram(request);
  ASSERT_TRUE(starter.ok());
  EXPECT_EQ(EndOf(*starter).value, 0);
  ends->second.Close();
  ChannelMessage message;
  ASSERT_EQ(ReceiveWithin(ends->first.get(), kLongNs, &message), Received::kMessage);
  EXPECT_EQ(Text(message), "alive");
}

TEST(AnyDetachedProcess, OneThatCannotBeStartedIsAnError) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  EXPECT_EQ(StartDetached({"/nonexistent/cairn"}, ends->second.get()),
            std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace cairn
