// SPDX-License-Identifier: Apache-2.0
//
// How a process gives its block to the watcher: one message over a socket that it inherited, with
// the block's file descriptor attached. There is no reply, and nothing afterwards depends on the
// socket or on the watcher being alive. (Only a watcher that the process itself has started says once
// that it is there: a program that dies right after that shall not die unseen.)
#ifndef CAIRN_RECORDER_HANDOVER_H_
#define CAIRN_RECORDER_HANDOVER_H_

#include <cstdint>

#include "base/shared_memory.h"
#include "base/status.h"

namespace cairn {

// Names the number of the inherited socket (AF_UNIX, SOCK_SEQPACKET).
inline constexpr char kWatcherFdVariable[] = "CAIRN_WATCHER_FD";

// What the block's memory is called in /proc/PID/fd, for who looks for it there.
inline constexpr char kBlockMemoryName[] = "cairn-block";

inline constexpr uint32_t kHandoverMagic = 0x4e524143;  // "CARN"
inline constexpr uint32_t kHandoverVersion = 1;

enum class HandoverKind : uint32_t {
  kBlock = 1,       // a block; its descriptor is attached (SCM_RIGHTS, exactly one)
  kDeviceLost = 2,  // the sender's block says that a device is lost: write the report now
  kWatching = 3,    // from the watcher: the process that made the socket is watched from now on
  kCapture = 4,     // a capture's region (capture_region.h); its descriptor is attached
};

struct HandoverMessage {
  uint32_t magic = kHandoverMagic;
  uint32_t version = kHandoverVersion;
  HandoverKind kind = HandoverKind::kBlock;
  uint32_t reserved = 0;
  uint64_t block_bytes = 0;  // kBlock, kCapture
};
static_assert(sizeof(HandoverMessage) == 24);

// The watcher's socket of this process, or -1 if it runs without one.
int WatcherSocket();

// kNotFound if the process has no watcher; kIo if the watcher is gone.
Status HandOverBlock(const SharedMemory& block);
Status HandOverCapture(const SharedMemory& region);
Status SendDeviceLost();

// The watcher at the other end of `socket` has closed it: it has ended.
bool WatcherIsGone(int socket);

}  // namespace cairn

#endif  // CAIRN_RECORDER_HANDOVER_H_
