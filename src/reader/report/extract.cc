// SPDX-License-Identifier: Apache-2.0
#include "reader/report/extract.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

#include "reader/report/user_data_text.h"

namespace cairn {
namespace {

std::string_view Extension(ShaderCode code) {
  switch (code) {
    case ShaderCode::kSpirV: return "spv";
    case ShaderCode::kDxbc: return "dxbc";
    case ShaderCode::kUnknown: break;
  }
  return "bin";
}

}  // namespace

std::vector<ExtractedFile> FilesToExtract(const Snapshot& snapshot) {
  std::vector<ExtractedFile> files;
  std::unordered_set<uint64_t> hashes;
  for (const Shader& shader : snapshot.shaders) {
    if (shader.bytes.empty() || !hashes.insert(shader.hash).second) continue;
    files.push_back({fmt::format("{:016x}.{}", shader.hash, Extension(shader.code)),
                     snapshot.Blob(shader.bytes)});
  }
  for (size_t i = 0; i < snapshot.user_data.size(); ++i) {
    const BlobRef bytes = snapshot.user_data[i].bytes;
    if (!bytes.empty()) files.push_back({UserDataFileName(snapshot, i), snapshot.Blob(bytes)});
  }
  for (size_t i = 0; i < snapshot.faults.size(); ++i) {
    const BlobRef binary = snapshot.faults[i].vendor_binary;
    if (binary.empty()) continue;
    files.push_back({fmt::format("vendor-binary-{}.bin", i), snapshot.Blob(binary)});
  }
  return files;
}

}  // namespace cairn
