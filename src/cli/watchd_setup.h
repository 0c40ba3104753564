// SPDX-License-Identifier: Apache-2.0
//
// Switching cairn watchd on and off for this user: a manifest for the Vulkan loader, and a unit of systemd.
#ifndef CAIRN_CLI_WATCHD_SETUP_H_
#define CAIRN_CLI_WATCHD_SETUP_H_

namespace cairn::cli {

// Both print what they did, and return the exit code. Where systemd runs no session of this user, EnableWatchd writes the
// manifest, and says how to start the service.
int EnableWatchd();
int DisableWatchd();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WATCHD_SETUP_H_
