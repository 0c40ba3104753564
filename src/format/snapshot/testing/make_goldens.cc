// SPDX-License-Identifier: Apache-2.0
//
// make-snapshot-goldens SOURCE_DIR: writes tests/golden/snapshot-user-data-v1.cairn and the seeds
// of the fuzzers from the sample blocks. The other golden files are of earlier forms of the format and are not written
// any more.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/block_fuzz_input.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"

namespace cairn {
namespace {

constexpr uint64_t kSampleTime = 1'700'000'005'000'000'000;

bool WriteFile(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  std::printf("%s: %zu bytes\n", path.string().c_str(), bytes.size());
  return file.good();
}

// The input of snapshot_file_fuzz that holds the same chunks as `file`.
std::vector<std::byte> ChunksAsFuzzInput(std::span<const std::byte> file) {
  std::vector<std::byte> input;
  const Result<FileReader> reader = FileReader::FromBytes(file);
  if (!reader.ok()) return input;
  for (size_t i = 0; i < reader->chunks().size(); ++i) {
    const Result<std::vector<std::byte>> payload = reader->Read(i);
    if (!payload.ok()) continue;
    for (int shift = 0; shift < 32; shift += 8) {
      input.push_back(static_cast<std::byte>(reader->chunks()[i].type >> shift));
    }
    input.push_back(static_cast<std::byte>(payload->size()));
    input.push_back(static_cast<std::byte>(payload->size() >> 8));
    input.insert(input.end(), payload->begin(), payload->end());
  }
  return input;
}

int MakeGoldens(const std::filesystem::path& source_dir) {
  bool good = true;
  const auto make = [&](const TestBlock& block, const char* name, bool golden) {
    const Result<Snapshot> snapshot =
        SnapshotFromBlock(block.bytes(), kSampleTime, Binaries::kKeep);
    if (!snapshot.ok()) return false;
    const std::vector<std::byte> file = SnapshotFileBytes(*snapshot, Compression::kNone);
    const std::filesystem::path corpus = source_dir / "fuzz" / "corpus";
    if (golden && !WriteFile(source_dir / "tests/golden/snapshot-user-data-v1.cairn", file))
      return false;
    const std::vector<uint8_t> patches = PatchesOf(block.bytes());
    return WriteFile(corpus / "snapshot_file_fuzz" / name, ChunksAsFuzzInput(file)) &&
           WriteFile(corpus / "snapshot_block_fuzz" / name, std::as_bytes(std::span(patches)));
  };
  TestBlock sample;
  FillSampleBlock(&sample);
  good = make(sample, "sample", false) && good;
  TestBlock d3d12;
  FillD3D12Block(&d3d12);
  good = make(d3d12, "d3d12", false) && good;
  TestBlock vulkan;
  FillVulkanBlock(&vulkan);
  good = make(vulkan, "vulkan", false) && good;
  TestBlock memory;
  FillMemoryBlock(&memory);
  good = make(memory, "memory", false) && good;
  TestBlock arguments;
  FillArgumentsBlock(&arguments);
  good = make(arguments, "arguments", false) && good;
  TestBlock durations;
  FillDurationsBlock(&durations);
  good = make(durations, "durations", false) && good;
  TestBlock user_data;
  FillUserDataBlock(&user_data);
  good = make(user_data, "user-data", true) && good;
  TestBlock several_pages;
  FillLargeBlock(&several_pages, 300);
  good = make(several_pages, "several-pages", false) && good;
  TestBlock empty;
  good = make(empty, "empty", false) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make-snapshot-goldens SOURCE_DIR\n");
    return 2;
  }
  return cairn::MakeGoldens(argv[1]);
}
