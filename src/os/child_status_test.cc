// SPDX-License-Identifier: Apache-2.0
#include "os/child_status.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "os/child.h"
#include "os/testing/test_role.h"

namespace cairn {
namespace {

enum class End : uint32_t { kNone, kFinished, kFailed };

struct SmallStatus {
  std::atomic<uint32_t> number{0};
};

struct TestStatus {
  std::atomic<uint64_t> call{5};
  StatusWord<End, End::kFailed> end;
  StatusText<8> text;
};

// Answers with the question, then dies.
const TestRole says("has-a-status", [](const TestWords&) -> int {
  auto status = ChildStatus<TestStatus>::OfThisProcess();
  if (!status.ok()) return 97;
  const std::span<const std::byte> question = status->question();
  (*status)->call = (*status)->call + 1;
  (*status)->text.Set({reinterpret_cast<const char*>(question.data()), question.size()});
  (*status)->end.Set(End::kFailed);
  LeaveNoDump();
  std::abort();
});

const TestRole asks_too_much("wants-a-larger-status", [](const TestWords&) -> int {
  const Status status = ChildStatus<TestStatus>::OfThisProcess().status();
  return status.code() == StatusCode::kCorrupt ? 3 : 97;
});

template <typename T>
ProcessEnd EndOfChild(const char* role, const ChildStatus<T>& status) {
  Result<Child> child = Child::Start({.purpose = "a test",
                                      .arguments = {"--role", role},
                                      .memory = &status.memory(),
                                      .silent = true});
  EXPECT_TRUE(child.ok()) << child.status().message();
  while (!child->WaitForEnd(uint64_t{60} * 1'000'000'000)) continue;
  return child->End();
}

TEST(ChildStatus, OutlivesTheChildThatWroteIt) {
  const auto status =
      ChildStatus<TestStatus>::Create("cairn-test", std::as_bytes(std::span("why?", 4)));
  ASSERT_TRUE(status.ok()) << status.status().message();
  EXPECT_EQ(5u, (*status)->call);
  EXPECT_EQ(End::kNone, (*status)->end.Get());
  EXPECT_EQ("", (*status)->text.Get());
  const ProcessEnd end = EndOfChild("has-a-status", *status);
  EXPECT_FALSE(end.kind == EndKind::kExited && end.value == 97);
  EXPECT_EQ(6u, (*status)->call);
  EXPECT_EQ(End::kFailed, (*status)->end.Get());
  EXPECT_EQ("why?", (*status)->text.Get());
  EXPECT_EQ(4u, status->question().size());
}

TEST(ChildStatus, IsRefusedInMemoryThatIsTooSmall) {
  const auto status = ChildStatus<SmallStatus>::Create("cairn-test");
  ASSERT_TRUE(status.ok()) << status.status().message();
  const ProcessEnd end = EndOfChild("wants-a-larger-status", *status);
  EXPECT_EQ(EndKind::kExited, end.kind);
  EXPECT_EQ(3, end.value);
}

TEST(ChildStatus, IsNotThereInAProcessThatIsNoChild) {
  EXPECT_EQ(StatusCode::kNotFound, ChildStatus<TestStatus>::OfThisProcess().status().code());
}

// A child that writes wildly: texts stay bounded, and an enumerator is one.
TEST(ChildStatus, IsBoundedWhateverTheChildWrites) {
  for (int byte = 0; byte <= 0xff; ++byte) {
    TestStatus status;
    std::memset(static_cast<void*>(&status), byte, sizeof(status));
    EXPECT_EQ(End::kNone, status.end.Get()) << byte;
    EXPECT_EQ(byte == 0 ? 0u : 8u, status.text.Bytes().size()) << byte;
    status.text.Append("more");
    status.text.AppendWhole("more");
    EXPECT_EQ(8u, status.text.Bytes().size()) << byte;
  }
}

TEST(StatusText, IsCutWhereItIsFull) {
  StatusText<10> text;
  text.Append("xxxxxxx", "; ");
  text.Append("abc", "; ");
  EXPECT_EQ("xxxxxxx; a", text.Get());
  text.Append("abc", "; ");
  EXPECT_EQ("xxxxxxx; a", text.Get());
  text.Set(
      "\x1b"
      "12345678\xc3\xa4");
  EXPECT_EQ("\\x1b12345678", text.Get());
  EXPECT_EQ(
      "\x1b"
      "12345678",
      text.Bytes());
}

TEST(StatusText, TakesAWholeTextOrNothing) {
  StatusText<10> text;
  text.AppendWhole("12345\n");
  text.AppendWhole("12345");
  EXPECT_EQ("12345\n", text.Bytes());
  text.AppendWhole("1234");
  EXPECT_EQ("12345\n1234", text.Bytes());
}

}  // namespace
}  // namespace cairn
