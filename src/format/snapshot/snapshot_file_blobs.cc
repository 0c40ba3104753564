// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/snapshot_file_reader.h"

namespace cairn {

BlobRef SnapshotFileReader::ReadBlob(ByteReader& reader, uint64_t size) {
  std::span<const std::byte> bytes;
  if (size > kMaxFileBlobBytes - snapshot_.blobs.size() || size > reader.remaining() ||
      !reader.ReadBytes(static_cast<size_t>(size), bytes)) {
    return {};
  }
  const BlobRef blob{snapshot_.blobs.size(), size};
  snapshot_.blobs.insert(snapshot_.blobs.end(), bytes.begin(), bytes.end());
  return blob;
}

// Bytes of which some are missing are of no use to those who can read them.
bool SnapshotFileReader::DecodeVendorBinary(ByteReader& reader) {
  const uint32_t index = ReadIndex(reader, snapshot_.faults.size());
  if (!reader.ok() || index == kNone) return false;
  Fault& fault = snapshot_.faults[index];
  if (!fault.vendor_binary.empty() || fault.vendor_binary_bytes != reader.remaining()) return false;
  fault.vendor_binary = ReadBlob(reader, fault.vendor_binary_bytes);
  return !fault.vendor_binary.empty();
}

bool SnapshotFileReader::DecodeUserData(ByteReader& reader) {
  const uint32_t index = ReadIndex(reader, snapshot_.user_data.size());
  if (!reader.ok() || index == kNone) return false;
  UserData& data = snapshot_.user_data[index];
  if (!data.bytes.empty() || data.size_bytes != reader.remaining()) return false;
  data.bytes = ReadBlob(reader, data.size_bytes);
  return !data.bytes.empty();
}

bool SnapshotFileReader::DecodeShaderCode(ByteReader& reader) {
  while (reader.remaining() != 0) {
    uint64_t size = 0;
    const uint32_t index = ReadIndex(reader, snapshot_.shaders.size());
    reader.ReadVarint(size);
    if (!reader.ok() || index == kNone) return false;
    Shader& shader = snapshot_.shaders[index];
    if (!shader.bytes.empty() || shader.size_bytes != size) return false;
    shader.bytes = ReadBlob(reader, size);
    if (shader.bytes.empty()) return false;
  }
  return reader.ok();
}

}  // namespace cairn
