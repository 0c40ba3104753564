// SPDX-License-Identifier: Apache-2.0
//
// make-many-dumps FOLDER COUNT DUMP...: writes COUNT copies of these dumps, as if they had come in over 90 days from
// several programs, devices and drivers; the same ones each time. For bench/triage-page and tests of the page.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/snapshot_dump.h"

namespace cairn {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kFirstDay = 1'787'875'200 * kSecondNs;  // 2026-08-28
constexpr uint64_t kDays = 90;
constexpr uint64_t kDayNs = 86'400 * kSecondNs;
constexpr const char* kPrograms[] = {"game", "game", "game", "editor", "launcher"};
constexpr const char* kPasses[] = {
    "Shadow cascades",  "Particles",      "Light culling", "SSAO",
    "Temporal upscale", "Build clusters", "Sky",           "Skinning",
    "Volumetric fog",   "Terrain",        "Bloom",         "Composite"};
constexpr const char* kDevices[] = {"NVIDIA GeForce RTX 4070", "AMD Radeon RX 7800 XT",
                                    "Intel Arc A770", "NVIDIA GeForce RTX 3060"};
constexpr const char* kDrivers[] = {"NVIDIA 560.35.03", "RADV: Mesa 25.2.4", "ANV: Mesa 25.2.4",
                                    "NVIDIA 550.120"};

// `random`: of a generator that gives the same numbers on every machine.
void Change(std::mt19937& random, Snapshot* snapshot) {
  // More of late.
  const uint64_t day = kDays - 1 - random() % (1 + random() % kDays);
  const uint64_t seen = kFirstDay + day * kDayNs + random() % 86'400 * kSecondNs;
  snapshot->process.snapshot_time_ns = seen;
  for (Incident& incident : snapshot->incidents) incident.time_ns = seen;
  snapshot->process.program = snapshot->AddText(kPrograms[random() % std::size(kPrograms)]);
  snapshot->process.library_version = snapshot->AddText(day < 40 ? "0.9.0" : "1.0.0");
  const size_t pass = random() % (1 + random() % std::size(kPasses));
  for (size_t i = 0; i < snapshot->events.size(); ++i) {
    Event& event = snapshot->events[i];
    if (!event.name.empty()) {
      event.name = snapshot->AddText(kPasses[(pass + i) % std::size(kPasses)]);
    }
  }
  const size_t machine = random() % (1 + random() % std::size(kDevices));
  for (Device& device : snapshot->devices) {
    device.name = snapshot->AddText(kDevices[machine]);
    device.driver = snapshot->AddText(kDrivers[machine]);
  }
}

int MakeManyDumps(const std::string& folder, uint32_t count,
                  const std::vector<std::string>& dumps) {
  std::vector<Snapshot> snapshots;
  for (const std::string& dump : dumps) {
    Result<FileReader> reader = FileReader::Open(dump);
    Result<Snapshot> snapshot = reader.ok() ? ReadSnapshot(*reader) : reader.status();
    if (!snapshot.ok()) {
      std::fprintf(stderr, "make-many-dumps: %s: %s\n", dump.c_str(),
                   snapshot.status().message().c_str());
      return 1;
    }
    snapshots.push_back(std::move(*snapshot));
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::mt19937 random(1);
  for (uint32_t i = 0; i < count; ++i) {
    Snapshot snapshot = snapshots[random() % (1 + random() % snapshots.size())];
    Change(random, &snapshot);
    const std::vector<std::byte> bytes = SnapshotFileBytes(snapshot);
    const std::string path = folder + "/crash-" + std::to_string(100'000 + i).substr(1) + ".cairn";
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.good()) {
      std::fprintf(stderr, "make-many-dumps: cannot write %s\n", path.c_str());
      return 1;
    }
    file.close();
    // As if it was written then: what was written just now is not kept.
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24), error);
  }
  return 0;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: make-many-dumps FOLDER COUNT DUMP...\n");
    return 2;
  }
  return cairn::MakeManyDumps(argv[1], static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)),
                              {argv + 3, argv + argc});
}
