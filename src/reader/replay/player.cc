// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/player.h"

#include <utility>

#include "reader/replay/device.h"

namespace cairn {

// The player is compiled once for each calling convention (reader/replay/player_impl.h).
namespace d3d12_ms {
std::unique_ptr<Player> MakePlayer(TraceReader* trace, PlayerOptions options, D3D12Library library);
}
#if !defined(_WIN32)
namespace d3d12_sysv {
std::unique_ptr<Player> MakePlayer(TraceReader* trace, PlayerOptions options, D3D12Library library);
}
#endif

Result<std::unique_ptr<Player>> Player::Create(TraceReader* trace, PlayerOptions options) {
  const std::string name = options.library.empty() ? kDefaultD3D12Library : options.library;
  D3D12Library library;
  library.wchar_bytes = HasWindowsCalls(name) ? sizeof(wchar_t) : sizeof(char16_t);
  library.is_libvkd3d = HasWindowsCalls(name);
  library.takes_null = !library.is_libvkd3d;
  if (!options.create_device) {
    Result<D3D12Library> loaded = LoadD3D12(name);
    if (!loaded.ok()) return loaded.status();
    library = *loaded;
  }
#if !defined(_WIN32)
  if (!HasWindowsCalls(name)) return d3d12_sysv::MakePlayer(trace, std::move(options), library);
#endif
  return d3d12_ms::MakePlayer(trace, std::move(options), library);
}

}  // namespace cairn
