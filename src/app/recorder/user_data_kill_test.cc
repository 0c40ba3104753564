// SPDX-License-Identifier: Apache-2.0
//
// Kills a process while it sets entries: each is whole afterwards, the old one or the new one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "app/recorder/user_data.h"

namespace cairn {
namespace {

constexpr uint64_t kKeys = 3;
constexpr uint64_t kMostWords = 10'000;

// A value says which one it is, and so how long it has to be.
std::vector<uint64_t> Value(uint64_t number) {
  return std::vector<uint64_t>(number * 7919 % kMostWords + 1, number);
}

[[noreturn]] void SetForEver(BlockWriter& block, int ready) {
  UserDataWriter data(block);
  for (uint64_t number = 1;; ++number) {
    const std::vector<uint64_t> value = Value(number);
    if (!data.Set("key " + std::to_string(number % kKeys), std::as_bytes(std::span(value))).ok()) {
      _exit(1);
    }
    if (number % 5 == 0 && !data.Remove("key " + std::to_string(number / 5 % kKeys)).ok()) _exit(1);
    if (number == kKeys && write(ready, "!", 1) != 1) _exit(1);
  }
}

void ExpectWhole(const BlockWriter& block) {
  uint64_t offset = 0;
  std::memcpy(&offset, block.data() + kUserDataTableOffset, sizeof(offset));
  ASSERT_NE(offset, 0u);
  const auto* const table = reinterpret_cast<const UserDataTable*>(block.data() + offset);
  for (const UserDataRecord& record : table->records) {
    const uint64_t state = record.state.load();
    if (state == 0) continue;
    const UserDataBytes& bytes = record.bytes[state % 2];
    std::vector<uint64_t> words(bytes.size_bytes / sizeof(uint64_t));
    ASSERT_FALSE(words.empty());
    std::memcpy(words.data(), block.data() + bytes.offset, bytes.size_bytes);
    EXPECT_EQ(words, Value(words.front()));
    EXPECT_EQ(std::string(record.key, record.key_length),
              "key " + std::to_string(words.front() % kKeys));
  }
}

TEST(UserDataKill, EachEntryIsTheOldOneOrTheNewOne) {
  for (int i = 0; i < 50 && !::testing::Test::HasFailure(); ++i) {
    const std::unique_ptr<BlockWriter> block =
        std::move(BlockWriter::Create(kMinBlockBytes).value());
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) SetForEver(*block, ready[1]);
    char mark = 0;
    EXPECT_EQ(read(ready[0], &mark, 1), 1);
    // Somewhere in a later round, another one each time.
    for (volatile int spin = 0; spin < i * 20'000;) spin = spin + 1;
    EXPECT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    close(ready[0]);
    close(ready[1]);
    ExpectWhole(*block);
  }
}

}  // namespace
}  // namespace cairn
