// SPDX-License-Identifier: Apache-2.0
#include "cli/text_columns.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "os/terminal.h"

namespace cairn::cli {
namespace {

constexpr uint32_t kColumnsWithoutTerminal = 100;
constexpr uint32_t kFewestColumns = 40;

}  // namespace

uint32_t TextColumnsOf(uint32_t terminal, const char* variable) {
  if (terminal != 0) return terminal;
  const std::string_view text = variable == nullptr ? "" : variable;
  uint32_t columns = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size()) {
    return kColumnsWithoutTerminal;
  }
  return columns == 0 ? 0 : std::max(columns, kFewestColumns);
}

uint32_t TextColumns() {
  return TextColumnsOf(OutputSize().columns, std::getenv("COLUMNS"));
}

}  // namespace cairn::cli
