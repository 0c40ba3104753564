// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_WATCHER_TESTING_TEST_SIGNALS_H_
#define CAIRN_WATCHER_TESTING_TEST_SIGNALS_H_

namespace cairn {

// The numbers that Linux has, and reports know: <csignal> has other ones on Windows, or none. For
// tests of reports about a process, not for processes.
inline constexpr int kSigabrt = 6;
inline constexpr int kSigbus = 7;
inline constexpr int kSigkill = 9;

}  // namespace cairn

#endif  // CAIRN_WATCHER_TESTING_TEST_SIGNALS_H_
