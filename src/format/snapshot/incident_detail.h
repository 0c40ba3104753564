// SPDX-License-Identifier: Apache-2.0
//
// Texts of Incident::detail that readers know.
#ifndef CAIRN_FORMAT_SNAPSHOT_INCIDENT_DETAIL_H_
#define CAIRN_FORMAT_SNAPSHOT_INCIDENT_DETAIL_H_

#include <string_view>

namespace cairn {

// kHang: the watcher was asked to end the program after a hang. The option of `cairn run`.
inline constexpr std::string_view kKillOnHangDetail = "--kill-on-hang";

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_INCIDENT_DETAIL_H_
