// SPDX-License-Identifier: Apache-2.0
#include "base/signal_name.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(SignalName, SignalsAndExceptions) {
  EXPECT_EQ(SignalInWords(7), "signal 7 (SIGBUS)");
  EXPECT_EQ(SignalInWords(40), "signal 40");
  EXPECT_EQ(SignalInWords(0xc0000005), "exception 0xc0000005 (EXCEPTION_ACCESS_VIOLATION)");
  EXPECT_EQ(SignalInWords(0xe0001234), "exception 0xe0001234");
}

TEST(SignalName, CodesOfExceptions) {
  for (const int64_t code : {0xc0000005, 0xc00000fd, 0xc0000409, 0xe06d7363, 0x80000003}) {
    EXPECT_TRUE(IsExceptionCode(code)) << code;
  }
  // Success, signals, -1, -5, E_NOTIMPL and DXGI_ERROR_DEVICE_REMOVED, as unsigned numbers and not.
  for (const int64_t code :
       {int64_t{0}, int64_t{9}, int64_t{64}, int64_t{0xffffffff}, int64_t{0xfffffffb}, int64_t{-1},
        int64_t{0x80004001}, int64_t{0x887a0005}}) {
    EXPECT_FALSE(IsExceptionCode(code)) << code;
  }
}

TEST(SignalName, WhoEndedIt) {
  EXPECT_TRUE(IsSentFromOutside(kSignalKill));
  EXPECT_TRUE(IsSentFromOutside(kControlCExit));
  EXPECT_FALSE(IsSentFromOutside(kAccessViolation));
}

}  // namespace
}  // namespace cairn
