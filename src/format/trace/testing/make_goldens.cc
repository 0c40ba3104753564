// SPDX-License-Identifier: Apache-2.0
//
// make-trace-goldens SOURCE_DIR: writes tests/golden/trace-v1*.cairn and the seeds of the fuzzers. Run by
// hand, and only before the format's first release: later versions must read what is there.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "format/trace/testing/sample_trace.h"
#include "format/trace/testing/trace_fuzz_input.h"

namespace cairn {
namespace {

bool WriteFile(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  std::printf("%s: %zu bytes\n", path.c_str(), bytes.size());
  return file.good();
}

// The input of trace_verify_fuzz with the records of a trace of this build's numbering, as far as they
// are short.
std::vector<std::byte> RecordsAsFuzzInput(std::span<const std::byte> file) {
  std::vector<std::byte> input;
  Result<TraceReader> trace = TraceReader::FromBytes(file);
  if (!trace.ok()) return input;
  for (const KeptRecord& kept : ReadAll(*trace)) {
    std::span<const std::byte> body = kept.body;
    if (kept.record.kind == RecordKind::kBlob) body = body.subspan(sizeof(BlobBody));
    std::vector<std::byte> whole(body.begin(), body.end());
    if (kept.record.kind == RecordKind::kResult) {
      whole.erase(whole.begin(), whole.begin() + 7);
      whole[0] = std::byte{1};
    }
    const auto size = static_cast<uint8_t>(std::min<size_t>(whole.size(), 255));
    const std::optional<Method> method = trace->MethodOf(kept.record);
    const auto number = static_cast<uint16_t>(method.value_or(static_cast<Method>(0)));
    for (const uint8_t byte : {static_cast<uint8_t>(static_cast<uint8_t>(kept.record.kind) - 1),
                               static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8),
                               static_cast<uint8_t>(kept.record.object),
                               static_cast<uint8_t>(kept.record.thread), size}) {
      input.push_back(static_cast<std::byte>(byte));
    }
    input.insert(input.end(), whole.begin(), whole.begin() + size);
  }
  return input;
}

int MakeGoldens(const std::filesystem::path& source) {
  const std::filesystem::path golden = source / "tests" / "golden";
  const std::filesystem::path corpus = source / "fuzz" / "corpus";
  const TraceThread threads[] = {{0, 4711, "main", 0}, {1, 4712, "worker", 7}};
  SampleTrace small(Compression::kNone);
  FillSmallSample(&small);
  const std::vector<std::byte> small_file = small.Finish(threads);
  SampleTrace large(Compression::kNone);
  FillLargeSample(&large);
  large.Flush();
  const std::vector<std::byte> cut_file = large.BytesSoFar();
  const std::vector<std::byte> large_file = large.Finish(threads);
  SampleTrace hashes(Compression::kNone);
  FillHashSample(&hashes);
  const std::vector<std::byte> hash_file = hashes.Finish(threads);
  SampleTrace packed(Compression::kZstd);
  FillLargeSample(&packed);
  const std::vector<std::byte> packed_file = packed.Finish(threads);
  const bool good =
      small.ok() && large.ok() && packed.ok() && hashes.ok() &&
      WriteFile(golden / "trace-v1-hashes.cairn", hash_file) &&
      WriteFile(corpus / "trace_verify_fuzz" / "hashes", RecordsAsFuzzInput(hash_file)) &&
      WriteFile(golden / "trace-v1-small.cairn", small_file) &&
      WriteFile(golden / "trace-v1.cairn", packed_file) &&
      WriteFile(golden / "trace-v1-cut.cairn", cut_file) &&
      WriteFile(corpus / "trace_reader_fuzz" / "small", FuzzInputFromFile(small_file)) &&
      WriteFile(corpus / "trace_reader_fuzz" / "each-kind", FuzzInputFromFile(large_file)) &&
      WriteFile(corpus / "trace_reader_fuzz" / "cut", FuzzInputFromFile(cut_file)) &&
      WriteFile(corpus / "trace_verify_fuzz" / "small", RecordsAsFuzzInput(small_file)) &&
      WriteFile(corpus / "trace_verify_fuzz" / "each-kind", RecordsAsFuzzInput(large_file));
  return good ? 0 : 1;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make-trace-goldens SOURCE_DIR\n");
    return 2;
  }
  return cairn::MakeGoldens(argv[1]);
}
