// SPDX-License-Identifier: Apache-2.0
//
// Tells the watcher everything that it must not believe, over the pipe that `cairn run` handed it:
//   hostile lie PROGRAM...  messages that are no messages, memory that is none, senders that it is not; then runs PROGRAM,
//                           which has to be watched all the same, and exits with what Linux would keep of its exit code
//   hostile fault           a block whose every byte is a lie; then dies of an access violation
#include <process.h>
#include <windows.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "format/block/block.h"
#include "format/block/handover.h"
#include "format/settings/layer_settings.h"
#include "os/channel.h"
#include "os/windows/channel.h"

namespace cairn {
namespace {

RawHandle Pipe() {
  const char* const text = std::getenv(kVariableOf<&LayerSettings::watcher_fd>);
  return text == nullptr ? -1 : FindInherited(text);
}

// Writes the bytes unchanged, whole or not.
void WriteBytes(const void* bytes, size_t size) {
  OVERLAPPED transfer = {};
  transfer.hEvent = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  const auto pipe = reinterpret_cast<HANDLE>(Pipe());
  DWORD written = 0;
  WriteFile(pipe, bytes, static_cast<DWORD>(size), nullptr, &transfer);
  // A watcher that went away would be the defect that the test looks for.
  if (GetOverlappedResult(pipe, &transfer, &written, TRUE) == 0) std::exit(75);
  CloseHandle(transfer.hEvent);
}

void SendFrame(const ChannelFrame& frame) {
  WriteBytes(&frame, sizeof(frame));
}

void Send(const HandoverMessage& message, const SharedMemory* memory = nullptr) {
  if (!SendOver(Pipe(), std::as_bytes(std::span(&message, 1)), memory).ok()) std::exit(76);
}

SharedMemory Memory(uint64_t size_bytes) {
  Result<SharedMemory> memory = SharedMemory::Create("hostile", size_bytes);
  if (!memory.ok()) std::exit(77);
  return std::move(*memory);
}

ChannelFrame FrameOf(const HandoverMessage& message) {
  ChannelFrame frame;
  frame.size_bytes = sizeof(message);
  frame.sender = GetCurrentProcessId();
  frame.end = static_cast<uint64_t>(Pipe());
  std::memcpy(frame.bytes.data(), &message, sizeof(message));
  return frame;
}

void Lie() {
  const SharedMemory small = Memory(4096);
  Send({.block_bytes = kMinBlockBytes});          // no memory
  Send({.block_bytes = kMinBlockBytes}, &small);  // smaller than it says
  Send({.block_bytes = 4096}, &small);            // smaller than any block
  Send({.block_bytes = ~uint64_t{0}}, &small);
  Send({.magic = 1}, &small);
  Send({.version = 99}, &small);
  Send({.kind = static_cast<HandoverKind>(99)});
  Send({.kind = HandoverKind::kDeviceLost});  // without a block
  Send({.kind = HandoverKind::kWatching});    // what only a watcher says
  const ChannelFrame honest = FrameOf({.block_bytes = kMinBlockBytes});
  ChannelFrame frame = honest;
  frame.sender = 4;  // the system
  SendFrame(frame);
  frame = honest;
  frame.sender = ~0u;  // nobody
  SendFrame(frame);
  frame = honest;
  frame.end = 4;
  SendFrame(frame);
  frame = honest;
  frame.memory = frame.taken = 0xfffffffffffffff0;  // handles of nothing
  SendFrame(frame);
  frame.memory = frame.taken = ~uint64_t{0};  // what stands for a process itself
  SendFrame(frame);
  frame.memory = static_cast<uint64_t>(Pipe());  // no memory
  SendFrame(frame);
  frame = honest;
  frame.size_bytes = ~0u;
  SendFrame(frame);
  WriteBytes("short", 5);
}

// A plausible header, so that the reader goes on, and noise behind it.
SharedMemory Noise() {
  SharedMemory memory = Memory(kMinBlockBytes);
  auto* const words = reinterpret_cast<uint64_t*>(memory.data());
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < kMinBlockBytes / 8; ++i) words[i] = random();
  words[0] = kBlockMagic;
  words[1] = uint64_t{kPageBytes} << 32 | kBlockVersion;  // and size of the header
  words[2] = kMinBlockBytes;
  for (uint64_t i = 6; i < 10; ++i) words[i] = (i - 5) * 0x100000;  // tables, inside the block
  return memory;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (argc < 2 || cairn::Pipe() < 0) return 78;
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);  // no box with a button
  if (std::strcmp(argv[1], "lie") == 0 && argc > 2) {
    cairn::Lie();
    return static_cast<int>(_spawnv(_P_WAIT, argv[2], argv + 2) & 0xff);
  }
  const cairn::SharedMemory noise = cairn::Noise();
  cairn::Send({.block_bytes = cairn::kMinBlockBytes}, &noise);
  for (int i = 0; i < 100; ++i) cairn::Send({.kind = cairn::HandoverKind::kDeviceLost});
  *reinterpret_cast<volatile int*>(0x1230) = 1;
}
