// SPDX-License-Identifier: Apache-2.0
//
// For reports that leave a player's machine.
#ifndef CAIRN_REPORT_REDACT_H_
#define CAIRN_REPORT_REDACT_H_

#include "snapshot/snapshot.h"

namespace cairn {

// A copy in which every name that the application gave (markers, command lists, queues, pipelines,
// shaders, the place where it noticed a device loss), the program's path and its command line are
// replaced by "name-" and 16 hexadecimal digits: a hash, the same for the same name in every report.
// Somebody who guesses a name can check the guess. Addresses are left out; marker types, devices,
// drivers, data sources and losses stay as they are. The names are not in the copy's text any more.
Snapshot Redact(const Snapshot& snapshot);

}  // namespace cairn

#endif  // CAIRN_REPORT_REDACT_H_
