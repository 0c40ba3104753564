// SPDX-License-Identifier: Apache-2.0
//
// make-triage-rows COUNT: prints rows of `cairn triage --tsv` as if COUNT reports of a thousand machines had come in over
// 90 days; the same ones each time. A few crashes make most of them. For bench/triage-rows.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "reader/view/triage_row.h"

namespace cairn {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kFirstDay = 1'787'875'200;  // 2026-08-28
constexpr uint64_t kSeconds = 90 * 86'400;
constexpr uint64_t kMachines = 1'000;
constexpr uint64_t kSignatures = 3'000;
constexpr size_t kPieceBytes = 1 << 20;
constexpr const char* kPasses[] = {"Shadow cascades",  "Particles", "Light culling", "SSAO",
                                   "Temporal upscale", "Terrain",   "Bloom",         "Composite"};
constexpr const char* kDevices[] = {"NVIDIA GeForce RTX 4070", "AMD Radeon RX 7800 XT",
                                    "Intel Arc A770", "NVIDIA GeForce RTX 3060"};
constexpr const char* kDrivers[] = {"NVIDIA 560.35.03", "RADV: Mesa 25.2.4", "ANV: Mesa 25.2.4",
                                    "NVIDIA 550.120"};
constexpr const char* kKinds[] = {"GPU hang", "device lost", "GPU fault", "CPU fault"};

// All but what differs between two crashes of one signature.
DumpSummary OfSignature(uint64_t number) {
  DumpSummary dump;
  dump.program = number % 5 == 0 ? "editor" : "game";
  dump.certainty = number % 3 == 0 ? Certainty::kLikely : Certainty::kProven;
  dump.signature = {.kind = kKinds[number % std::size(kKinds)],
                    .cause = number % 4 == 3 ? "SIGSEGV" : "",
                    .path = {"Frame #", kPasses[number % std::size(kPasses)],
                             fmt::format("Material {}", static_cast<char>('A' + number % 26))},
                    .shaders = {fmt::format("{:016x}", number * 0x9e3779b97f4a7c15),
                                fmt::format("{:016x}", number * 0xc2b2ae3d27d4eb4f)},
                    .device = kDevices[number / 7 % std::size(kDevices)],
                    .driver = kDrivers[number / 7 % std::size(kDrivers)],
                    .id = fmt::format("{:016x}", (number + 1) * 0xd6e8feb86659fd93)};
  return dump;
}

int MakeTriageRows(uint64_t count) {
  std::vector<DumpSummary> signatures;
  for (uint64_t i = 0; i < kSignatures; ++i) signatures.push_back(OfSignature(i));
  std::mt19937_64 random(1);
  std::string piece;
  for (uint64_t i = 0; i < count; ++i) {
    DumpSummary& dump = signatures[random() % (1 + random() % (1 + random() % kSignatures))];
    const uint64_t second = random() % kSeconds;
    dump.seen_ns = (kFirstDay + second) * kSecondNs + random() % 1000 * 1'000'000;
    dump.version = second < 40 * 86'400 ? "0.9.0" : "1.0.0";
    dump.size_bytes = 4'096 + random() % 1'000'000;
    dump.file = fmt::format("/var/crash/game-{}.cairn", random() % 100'000);
    dump.content = fmt::format("{:016x}{:016x}", random(), i);
    piece += TriageRow(dump, fmt::format("host{}", random() % kMachines));
    if (piece.size() < kPieceBytes && i + 1 != count) continue;
    if (std::fwrite(piece.data(), 1, piece.size(), stdout) != piece.size()) return 1;
    piece.clear();
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make-triage-rows COUNT\n");
    return 2;
  }
  return cairn::MakeTriageRows(std::strtoull(argv[1], nullptr, 10));
}
