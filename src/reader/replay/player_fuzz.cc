// SPDX-License-Identifier: Apache-2.0
//
// Plays records that say anything: whatever they are, the player refuses them or plays them, reads and
// writes no memory that is not theirs, and gives all objects back.
#include <cstddef>
#include <cstdint>

#include "reader/replay/testing/player_fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::PlayFuzzInput({reinterpret_cast<const std::byte*>(data), size});
  if (cairn::FakeObjectCount() != 0) __builtin_trap();
  return 0;
}
