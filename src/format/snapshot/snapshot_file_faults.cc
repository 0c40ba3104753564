// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>

#include "format/snapshot/snapshot_file_reader.h"

namespace cairn {

bool SnapshotFileReader::DecodeFaults(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(8, count) || count > kMaxContexts) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!DecodeFault(reader)) return false;
  }
  return true;
}

bool SnapshotFileReader::DecodeFault(ByteReader& reader) {
  Fault fault;
  int64_t result = 0;
  fault.device = ReadIndex(reader, snapshot_.devices.size());
  reader.ReadSignedVarint(result);
  fault.result = static_cast<int32_t>(result);
  reader.ReadVarint(fault.time_ns);
  fault.source = ReadText(reader);
  fault.description = ReadText(reader);
  fault.first_address = static_cast<uint32_t>(snapshot_.fault_addresses.size());
  fault.first_vendor_info = static_cast<uint32_t>(snapshot_.vendor_infos.size());
  uint32_t count = 0;
  if (!reader.ReadCount(3, count) || count > kMaxFaultAddresses) return false;
  for (uint32_t i = 0; i < count; ++i) {
    FaultAddress address = {};
    uint32_t type = 0;
    reader.ReadVarint32(type);
    address.type = static_cast<FaultAddressType>(type);
    reader.ReadVarint(address.address);
    reader.ReadVarint(address.precision);
    snapshot_.fault_addresses.push_back(address);
  }
  fault.address_count = count;
  if (!reader.ReadCount(3, count) || count > kMaxFaultVendorInfos) return false;
  for (uint32_t i = 0; i < count; ++i) {
    VendorInfo info;
    info.description = ReadText(reader);
    reader.ReadVarint(info.code);
    reader.ReadVarint(info.data);
    snapshot_.vendor_infos.push_back(info);
  }
  fault.vendor_info_count = count;
  reader.ReadVarint(fault.vendor_binary_bytes);
  if (!reader.ok()) return false;
  snapshot_.faults.push_back(fault);
  return true;
}

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

bool SnapshotFileReader::DecodeCheckpoints(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(5, count) || count > kMaxContexts * kMaxCheckpoints) return false;
  for (uint32_t i = 0; i < count; ++i) {
    Checkpoint checkpoint;
    uint32_t stage = 0;
    checkpoint.device = ReadIndex(reader, snapshot_.devices.size());
    checkpoint.queue = ReadIndex(reader, snapshot_.queues.size());
    reader.ReadVarint32(stage);
    checkpoint.recording = ReadIndex(reader, snapshot_.recordings.size());
    reader.ReadVarint32(checkpoint.sequence);
    if (!reader.ok()) return false;
    if (stage == static_cast<uint32_t>(PipeStage::kTop)) checkpoint.stage = PipeStage::kTop;
    if (stage == static_cast<uint32_t>(PipeStage::kBottom)) checkpoint.stage = PipeStage::kBottom;
    snapshot_.checkpoints.push_back(checkpoint);
  }
  return true;
}

bool SnapshotFileReader::DecodeShaders(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(10, count) || count > kMaxShaders) return false;
  const uint32_t kept = Afford(count, 2, "shaders");
  std::unordered_set<uint64_t> known;
  for (uint32_t i = 0; i < kept; ++i) {
    Shader shader;
    uint32_t code = 0;
    reader.ReadU64(shader.hash);
    reader.ReadVarint32(code);
    shader.code = static_cast<ShaderCode>(code);
    reader.ReadVarint(shader.size_bytes);
    if (!reader.ok() || !known.insert(shader.hash).second) return false;
    snapshot_.shaders.push_back(shader);
  }
  return true;
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
