// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/player.h"

#include <utility>

#include "reader/replay/adapter_choice.h"
#include "reader/replay/device.h"

namespace cairn {

// The player is compiled once for each calling convention (reader/replay/player_impl.h).
namespace d3d12_ms {
std::unique_ptr<Player> MakePlayer(TraceReader* trace, PlayerOptions options, D3D12Library library,
                                   AdapterChoice adapters);
}
#if !defined(_WIN32)
namespace d3d12_sysv {
std::unique_ptr<Player> MakePlayer(TraceReader* trace, PlayerOptions options, D3D12Library library,
                                   AdapterChoice adapters);
}
#endif

namespace {

// The adapters of this machine, where a choice is to be made.
Result<AdapterChoice> ChooseAmong(const PlayerOptions& options) {
  if (options.adapter.empty() && !options.create_device && EnvironmentSelectsAdapter()) {
    return AdapterChoice({});
  }
  Result<std::vector<Adapter>> adapters = std::vector<Adapter>();
  if (options.list_adapters) {
    adapters = options.list_adapters();
  } else if (!options.create_device) {
    adapters = ListAdapters();
  }
  if (options.adapter.empty()) {
    // Without a list the implementation takes the one that it likes.
    return AdapterChoice(adapters.ok() ? std::move(*adapters) : std::vector<Adapter>());
  }
  if (!adapters.ok()) {
    return adapters.status().WithContext("--adapter: this machine's adapters are unknown");
  }
  const Result<uint32_t> asked = FindAdapter(*adapters, options.adapter);
  if (!asked.ok()) return asked.status();
  return AdapterChoice(std::move(*adapters), *asked);
}

}  // namespace

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
  Result<AdapterChoice> adapters = ChooseAmong(options);
  if (!adapters.ok()) return adapters.status();
#if !defined(_WIN32)
  if (!HasWindowsCalls(name)) {
    return d3d12_sysv::MakePlayer(trace, std::move(options), library, std::move(*adapters));
  }
#endif
  return d3d12_ms::MakePlayer(trace, std::move(options), library, std::move(*adapters));
}

}  // namespace cairn
