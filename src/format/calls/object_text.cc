// SPDX-License-Identifier: Apache-2.0
#include "format/calls/object_text.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "base/text.h"
#include "d3d12gen/interfaces.h"

namespace cairn {
namespace {

bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}

// "ID3D12DescriptorHeap": "descriptor heap".
std::string KindOfInterface(std::string_view interface) {
  for (const std::string_view prefix : {"ID3D12", "ID3D", "IDXGIVk", "IDXGI", "I"}) {
    if (!interface.starts_with(prefix)) continue;
    interface.remove_prefix(prefix.size());
    break;
  }
  std::string words;
  for (size_t i = 0; i < interface.size(); ++i) {
    const char c = interface[i];
    const bool begins_word = IsUpper(c) && i + 1 < interface.size() && IsLower(interface[i + 1]);
    if (i != 0 && (begins_word || (IsUpper(c) && IsLower(interface[i - 1])))) words += ' ';
    words += begins_word ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

std::array<std::string, kChainCount> MakeKinds() {
  std::array<std::string, kChainCount> kinds;
  kinds[0] = "object";
  for (size_t i = 1; i < kChainCount; ++i) {
    const auto chain = static_cast<Chain>(i);
    // Every list of Direct3D 12 but those for video has this interface: that of a bundle, too.
    kinds[i] = chain == Chain::kID3D12GraphicsCommandList
                   ? "command list"
                   : KindOfInterface(Describe(chain).first->name);
  }
  return kinds;
}

const std::array<std::string, kChainCount>& Kinds() {
  static const std::array<std::string, kChainCount> kinds = MakeKinds();
  return kinds;
}

}  // namespace

const std::string& ObjectKindText(Chain chain) {
  const auto index = static_cast<size_t>(chain);
  return Kinds()[index < kChainCount ? index : 0];
}

std::string ObjectText(Chain chain, uint64_t number, std::string_view name) {
  if (name.empty()) return fmt::format("{} {}", ObjectKindText(chain), number);
  return fmt::format("{} {} \"{}\"", ObjectKindText(chain), number, VisibleText(name));
}

std::optional<uint64_t> ObjectNumberIn(std::string_view text) {
  if (text.starts_with('#')) return ParseDigits(text.substr(1));
  for (const std::string& kind : Kinds()) {
    if (!text.starts_with(kind + ' ')) continue;
    // "video decoder" begins "video decoder heap 7", too.
    const std::string_view rest = text.substr(kind.size() + 1);
    const size_t end = rest.find(' ');
    const std::optional<uint64_t> number = ParseDigits(rest.substr(0, end));
    if (!number) continue;
    if (end == std::string_view::npos) return number;
    const std::string_view name = rest.substr(end + 1);
    const bool is_quoted = name.size() > 1 && name.starts_with('"') && name.ends_with('"');
    return is_quoted ? number : std::nullopt;
  }
  return ParseDigits(text);
}

}  // namespace cairn
