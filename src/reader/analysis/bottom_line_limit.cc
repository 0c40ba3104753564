// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/bottom_line_limit.h"

namespace cairn {
namespace {

constexpr uint32_t kAmd = 0x1002;
// Source: AMD GPU Services, breadcrumb API.
constexpr uint32_t kGcnLimit = 64;

struct Identifiers {
  uint32_t first;
  uint32_t last;
};
// PCI device identifiers by chip, as Linux' amdgpu has them.
constexpr Identifiers kGcn[] = {
    {0x6600, 0x663F},  // Oland
    {0x6640, 0x665F},  // Bonaire
    {0x6660, 0x666F},  // Hainan
    {0x66A0, 0x66AF},  // Vega 20
    {0x6780, 0x679F},  // Tahiti
    {0x67A0, 0x67BF},  // Hawaii
    {0x67C0, 0x67FF},  // Polaris 10 and 11
    {0x6800, 0x683F},  // Pitcairn, Cape Verde
    {0x6860, 0x687F},  // Vega 10
    {0x6900, 0x6907},  // Iceland
    {0x6920, 0x6939},  // Tonga
    {0x694C, 0x694F},  // Vega M
    {0x6980, 0x699F},  // Polaris 12
    {0x69A0, 0x69AF},  // Vega 12
    {0x6FDF, 0x6FDF},  // Polaris 20
    {0x7300, 0x730F},  // Fiji
    {0x1304, 0x131D},  // Kaveri
    {0x15D8, 0x15D8},  // Picasso, Raven 2
    {0x15DD, 0x15DD},  // Raven
    {0x15E7, 0x15E7},  // Barcelo
    {0x1636, 0x1636},  // Renoir
    {0x1638, 0x1638},  // Cezanne
    {0x164C, 0x164C},  // Lucienne
    {0x9830, 0x985F},  // Kabini, Mullins
    {0x9870, 0x9877},  // Carrizo
    {0x98E4, 0x98E4},  // Stoney
};

// Fills and copies wait for one another by barriers: nothing waits in the line.
bool WritesInLine(WriteMethod method) {
  switch (method) {
    case WriteMethod::kVulkanBufferMarker:
    case WriteMethod::kDriverBufferMarker:
    case WriteMethod::kD3D12WriteBufferImmediate:
    case WriteMethod::kAmdAgs: return true;
    default: return false;
  }
}

}  // namespace

uint32_t BottomLineLimit(const Device& device) {
  if (device.vendor_id != kAmd || device.device_lost || !WritesInLine(device.method)) return 0;
  for (const Identifiers& chip : kGcn) {
    if (device.device_id >= chip.first && device.device_id <= chip.last) return kGcnLimit;
  }
  return 0;
}

}  // namespace cairn
