// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_FORMAT_EXPERIMENT_PLAYERS_SHADER_H_
#define CAIRN_FORMAT_EXPERIMENT_PLAYERS_SHADER_H_

#include <cstdint>

namespace cairn {

// The hash of the DXBC with which the player of a trace asks behind each submission whether the device still works
// (reader/replay/canary.h). Experiments leave this shader as it is: one that stores nothing would look like a failure.
inline constexpr uint64_t kPlayersShader = 0x95d7ff63107c4d47;

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_PLAYERS_SHADER_H_
