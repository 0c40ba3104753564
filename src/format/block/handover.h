// SPDX-License-Identifier: Apache-2.0
//
// The message by which a process hands its block to the watcher: one message over a channel, with
// the block's memory attached. There is no reply. (Only a watcher that the process itself has
// started says once that it is there: a program that dies right after that shall not die unseen.)
#ifndef CAIRN_FORMAT_BLOCK_HANDOVER_H_
#define CAIRN_FORMAT_BLOCK_HANDOVER_H_

#include <cstdint>

#include "format/block/watcher_address.h"

namespace cairn {

// What the block's memory is called in /proc/PID/fd, for who looks for it there.
inline constexpr char kBlockMemoryName[] = "cairn-block";

inline constexpr uint32_t kHandoverMagic = 0x4e524143;  // "CARN"
inline constexpr uint32_t kHandoverVersion = 1;

enum class HandoverKind : uint32_t {
  kBlock = 1,       // a block; its descriptor is attached (SCM_RIGHTS, exactly one)
  kDeviceLost = 2,  // the sender's block says that a device is lost: write the report now
  kWatching = 3,    // from the watcher: the process that made the socket is watched from now on
  kCapture = 4,     // a capture's region (capture_region.h); its descriptor is attached
  kGreeting = 5,    // a HandoverGreeting, the first message of a connection
};

struct HandoverMessage {
  uint32_t magic = kHandoverMagic;
  uint32_t version = kHandoverVersion;
  HandoverKind kind = HandoverKind::kBlock;
  uint32_t reserved = 0;
  uint64_t block_bytes = 0;  // kBlock, kCapture
};
static_assert(sizeof(HandoverMessage) == 24);

struct HandoverGreeting {
  uint32_t magic = kHandoverMagic;
  uint32_t version = kHandoverVersion;
  HandoverKind kind = HandoverKind::kGreeting;
  uint32_t reserved = 0;
  WatcherToken token = {};
};
static_assert(sizeof(HandoverGreeting) == 32);

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_HANDOVER_H_
