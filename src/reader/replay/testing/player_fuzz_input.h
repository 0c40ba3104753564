// SPDX-License-Identifier: Apache-2.0
//
// Records as a fuzzer's input, and their playback on a device of our own. An input is a list of
//   u8 kind, u8 flags, u16 method, u8 object, u8 thread, u16 bytes, then so many bytes of the body;
// numbers are given in order, so that creations and results find their calls by small ones.
#ifndef CAIRN_READER_REPLAY_TESTING_PLAYER_FUZZ_INPUT_H_
#define CAIRN_READER_REPLAY_TESTING_PLAYER_FUZZ_INPUT_H_

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "d3d12abi/testing/fake_device.h"
#include "format/trace/testing/test_trace.h"
#include "reader/replay/player.h"

namespace cairn {

inline std::vector<std::byte> FuzzInputOf(std::span<const KeptRecord> records) {
  std::vector<std::byte> input;
  const auto put = [&](const auto& value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    input.insert(input.end(), bytes, bytes + sizeof(value));
  };
  for (const KeptRecord& kept : records) {
    put(static_cast<uint8_t>(kept.record.kind));
    put(kept.record.flags);
    put(kept.record.method);
    put(static_cast<uint8_t>(kept.record.object));
    put(static_cast<uint8_t>(kept.record.thread));
    put(static_cast<uint16_t>(kept.body.size()));
    input.insert(input.end(), kept.body.begin(), kept.body.end());
  }
  return input;
}

// Plays without waiting: the first wait that is not over at once ends the playback.
inline PlayerResult PlayFuzzInput(std::span<const std::byte> input) {
  constexpr size_t kMostRecords = 512;
  TestTrace test(Compression::kNone);
  ByteReader reader(input);
  for (size_t i = 0; i < kMostRecords && reader.remaining() != 0; ++i) {
    uint8_t kind = 0;
    uint8_t flags = 0;
    uint16_t method = 0;
    uint8_t object = 0;
    uint8_t thread = 0;
    uint16_t size = 0;
    reader.ReadU8(kind);
    reader.ReadU8(flags);
    reader.ReadU16(method);
    reader.ReadU8(object);
    reader.ReadU8(thread);
    reader.ReadU16(size);
    std::span<const std::byte> body;
    if (!reader.ok()) break;
    reader.ReadBytes(std::min<size_t>(size, reader.remaining()), body);
    test.thread = thread;
    test.Add(static_cast<RecordKind>(kind), object, body, method, flags);
  }
  Result<TraceReader> trace = test.TryOpen();
  if (!trace.ok()) return {};
  PlayerOptions options;
  options.create_device = [](uint32_t) -> void* { return CreateFakeDevice(); };
  options.validate = true;
  options.images = true;
  options.interrupted = [] { return true; };
  Result<std::unique_ptr<Player>> player = Player::Create(&*trace, std::move(options));
  if (!player.ok()) return {};
  const Status status = (*player)->Run();
  // A playback that ends with an error must give its kind and place.
  if (!status.ok() && ((*player)->failure() == PlayerFailure::kNone || status.message().empty())) {
    __builtin_trap();
  }
  return (*player)->result();
}

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_TESTING_PLAYER_FUZZ_INPUT_H_
