// SPDX-License-Identifier: Apache-2.0
#include "os/detached_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <string>
#include <system_error>

#include "os/channel.h"

namespace cairn {
namespace {

constexpr uint64_t kLongNs = uint64_t{20} * 1'000'000'000;

std::string Text(const ChannelMessage& message) {
  return std::string(reinterpret_cast<const char*>(message.data.data()), message.size_bytes);
}

TEST(DetachedProcess, HasTheHandleAndIsNoChild) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  const uint64_t number = NumberInDetached(ends->second.get());
  ASSERT_FALSE(
      StartDetached({"/bin/sh", "-c", "printf 'here %s' $PPID >&$0", std::to_string(number)},
                    ends->second.get()));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  ends->second.Close();
  ChannelMessage message;
  ASSERT_EQ(ReceiveWithin(ends->first.get(), kLongNs, &message), Received::kMessage);
  EXPECT_NE(Text(message), "here " + std::to_string(OwnProcessId()));
  EXPECT_EQ(Text(message).substr(0, 5), "here ");
  // The process ends, and closes its handles.
  EXPECT_EQ(ReceiveWithin(ends->first.get(), kLongNs, &message), Received::kClosed);
}

TEST(DetachedProcess, OneThatCannotBeStartedIsAnError) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  EXPECT_EQ(StartDetached({"/nonexistent/cairn"}, ends->second.get()),
            std::errc::no_such_file_or_directory);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace cairn
