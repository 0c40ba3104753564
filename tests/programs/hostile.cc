// SPDX-License-Identifier: Apache-2.0
//
// Tells the watcher everything that it must not believe, over the socket that `cairn run` handed it:
//   hostile lie    messages that are no messages, memory that is no block; then exits
//   hostile kill   a block whose every byte is a lie; then dies
//   hostile forks N   N children, which live at the same time, hand over a block each and die
#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "app/recorder/watcher_link.h"
#include "send_descriptors.h"

namespace {

constexpr uint32_t kMagic = 0x4e524143;
constexpr uint64_t kBlockBytes = uint64_t{8} << 20;

struct Message {
  uint32_t magic = kMagic;
  uint32_t version = 1;
  uint32_t kind = 1;
  uint32_t reserved = 0;
  uint64_t block_bytes = kBlockBytes;
};

int Socket() {
  static const cairn::Result<cairn::RawHandle> socket = cairn::WatcherSocket();
  return socket.ok() ? static_cast<int>(*socket) : -1;
}

void SendBytes(const void* bytes, size_t size, std::span<const int> descriptors = {}) {
  // A watcher that went away would be the defect that the test looks for.
  if (!SendDescriptors(Socket(), bytes, size, descriptors)) std::exit(75);
}

void Send(const Message& message, std::span<const int> descriptors = {}) {
  SendBytes(&message, sizeof(message), descriptors);
}

int Memory(uint64_t size, bool sealed) {
  const int fd = memfd_create("hostile", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  if (ftruncate(fd, static_cast<off_t>(size)) != 0) std::exit(76);
  if (sealed) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return fd;
}

void Lie() {
  const int unsealed[] = {Memory(kBlockBytes, false)};
  const int small[] = {Memory(4096, true)};
  const int several[] = {Memory(kBlockBytes, true), Memory(kBlockBytes, true), STDIN_FILENO};
  const int no_memory[] = {open("/dev/null", O_RDWR)};
  Send({});                            // no descriptor
  Send({}, unsealed);                  // could shrink under the reader
  Send({}, small);                     // smaller than it says
  Send({.block_bytes = 4096}, small);  // smaller than any block
  Send({.block_bytes = ~uint64_t{0}}, small);
  Send({}, no_memory);
  Send({.magic = 1}, small);
  Send({.version = 99}, small);
  Send({.kind = 99});
  Send({.kind = 2});  // a lost device without a block
  Send({.kind = 3});  // what only a watcher says
  SendBytes("", 0);
  SendBytes("short", 5);
  SendBytes(std::vector<char>(4096, 'x').data(), 4096);
  Send({.kind = 99}, several);
}

// A plausible header, so that the reader goes on, and noise behind it.
void HandOverNoise() {
  const int memory[] = {Memory(kBlockBytes, true)};
  auto* words = static_cast<uint64_t*>(
      mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory[0], 0));
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < kBlockBytes / 8; ++i) words[i] = random();
  words[0] = 0x314b4c424e524143;        // magic
  words[1] = uint64_t{4096} << 32 | 1;  // version and size of the header
  words[2] = kBlockBytes;
  for (uint64_t i = 6; i < 10; ++i) words[i] = (i - 5) * 0x100000;  // tables, inside the block
  Send({}, memory);
  for (int i = 0; i < 100; ++i) Send({.kind = 2});
}

void HandOverEmptyBlock() {
  const int memory[] = {Memory(kBlockBytes, true)};
  Send({}, memory);
  close(memory[0]);
}

int Forks(int count) {
  int handed_over[2];
  int all_did[2];
  if (pipe(handed_over) != 0 || pipe(all_did) != 0) return 78;
  char byte = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child < 0) return 79;
    if (child != 0) continue;
    HandOverEmptyBlock();
    close(all_did[1]);
    if (write(handed_over[1], &byte, 1) != 1 || read(all_did[0], &byte, 1) != 0) _exit(80);
    raise(SIGKILL);
  }
  for (int i = 0; i < count; ++i) {
    if (read(handed_over[0], &byte, 1) != 1) return 81;
  }
  // The watcher has taken all of it while all of them live.
  for (int unread = 1; unread > 0; sched_yield()) {
    if (ioctl(Socket(), SIOCOUTQ, &unread) != 0) return 82;
  }
  close(all_did[1]);
  while (wait(nullptr) > 0) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || Socket() < 0) return 77;
  if (std::strcmp(argv[1], "lie") == 0) {
    Lie();
    return 0;
  }
  if (std::strcmp(argv[1], "forks") == 0 && argc > 2) return Forks(std::atoi(argv[2]));
  HandOverNoise();
  raise(SIGKILL);
}
