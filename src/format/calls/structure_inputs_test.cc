// SPDX-License-Identifier: Apache-2.0
#include "format/calls/structure_inputs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace cairn {
namespace {

constexpr uint32_t kFloats3 = 6;   // DXGI_FORMAT_R32G32B32_FLOAT
constexpr uint32_t kIndex16 = 57;  // DXGI_FORMAT_R16_UINT
constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

// Three vertices at 0, three indices at 48, a transform at 64.
StructureGeometry Triangle() {
  StructureGeometry geometry = {};
  geometry.count = 3;
  geometry.stride_bytes = 12;
  geometry.index_offset_bytes = 48;
  geometry.transform_offset_bytes = 64;
  geometry.type = kTriangles;
  geometry.format = kFloats3;
  geometry.index_format = kIndex16;
  geometry.index_count = 3;
  return geometry;
}
constexpr size_t kTriangleBytes = 64 + kTransformBytes;

StructureBody Body(uint32_t type, uint32_t count) {
  StructureBody body = {};
  body.type = type;
  body.count = count;
  return body;
}

std::vector<std::byte> Bytes(const StructureGeometry& geometry, size_t inputs_bytes) {
  std::vector<std::byte> bytes(sizeof(geometry) + inputs_bytes);
  std::memcpy(bytes.data(), &geometry, sizeof(geometry));
  return bytes;
}

StatusCode CodeOf(const StructureGeometry& geometry, size_t inputs_bytes = kTriangleBytes) {
  return ReadStructureInputs(Body(kBottomLevel, 1), Bytes(geometry, inputs_bytes)).status().code();
}

TEST(StructureInputsTest, TriangleIsRead) {
  const std::vector<std::byte> bytes = Bytes(Triangle(), kTriangleBytes);
  const Result<StructureInputs> read = ReadStructureInputs(Body(kBottomLevel, 1), bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(1u, read->geometries.size());
  EXPECT_EQ(48u, read->geometries[0].index_offset_bytes);
  EXPECT_EQ(kTriangleBytes, read->inputs.size());
  EXPECT_EQ(bytes.data() + sizeof(StructureGeometry), read->inputs.data());
}

TEST(StructureInputsTest, InputsEndWithWhatIsNamed) {
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(Triangle(), kTriangleBytes - 1));
  StructureGeometry geometry = Triangle();
  geometry.transform_offset_bytes = kNoStructureInput;
  EXPECT_EQ(StatusCode::kOk, CodeOf(geometry, 48 + 3 * 2));
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(geometry, 48 + 3 * 2 - 1));
  geometry.index_offset_bytes = kNoStructureInput;
  EXPECT_EQ(StatusCode::kOk, CodeOf(geometry, 3 * 12));
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(geometry, 3 * 12 - 1));
}

TEST(StructureInputsTest, NumbersThatOverflowAreRefused) {
  StructureGeometry geometry = Triangle();
  geometry.count = kHuge;
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(geometry));
  geometry = Triangle();
  geometry.stride_bytes = kHuge / 2 + 1;
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(geometry));
  geometry = Triangle();
  geometry.offset_bytes = kHuge - 15;
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(geometry));
  geometry = Triangle();
  geometry.offset_bytes = 8;  // not aligned
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(geometry));
  geometry = Triangle();
  geometry.stride_bytes = 0;  // any number of vertices in 12 bytes
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(geometry));
}

TEST(StructureInputsTest, KindsOfLaterVersionsAreRefused) {
  StructureGeometry geometry = Triangle();
  geometry.type = 2;
  EXPECT_EQ(StatusCode::kUnsupported, CodeOf(geometry));
  geometry = Triangle();
  geometry.format = 2;
  EXPECT_EQ(StatusCode::kUnsupported, CodeOf(geometry));
  geometry = Triangle();
  geometry.index_format = 3;
  EXPECT_EQ(StatusCode::kUnsupported, CodeOf(geometry));
  EXPECT_EQ(StatusCode::kUnsupported, ReadStructureInputs(Body(2, 0), {}).status().code());
}

TEST(StructureInputsTest, BoxesAndInstances) {
  StructureGeometry boxes = {};
  boxes.type = kBoxes;
  boxes.count = 2;
  boxes.stride_bytes = 32;
  EXPECT_EQ(StatusCode::kOk, CodeOf(boxes, 32 + kBoxBytes));
  EXPECT_EQ(StatusCode::kCorrupt, CodeOf(boxes, 32 + kBoxBytes - 1));

  const std::vector<std::byte> instances(2 * kInstanceDescBytes);
  EXPECT_TRUE(ReadStructureInputs(Body(kTopLevel, 2), instances).ok());
  EXPECT_TRUE(ReadStructureInputs(Body(kTopLevel, 0), {}).ok());
  EXPECT_EQ(StatusCode::kCorrupt,
            ReadStructureInputs(Body(kTopLevel, 3), instances).status().code());
  EXPECT_EQ(StatusCode::kCorrupt,
            ReadStructureInputs(Body(kBottomLevel, 0xFFFFFFFF), instances).status().code());
}

// Whatever the bytes are, all that is returned lies in them.
TEST(StructureInputsTest, ArbitraryBytesNeverLeadOutside) {
  std::mt19937 random(1);
  const std::vector<std::byte> valid = Bytes(Triangle(), kTriangleBytes);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = valid;
    for (int i = 0; i < 3; ++i) {
      bytes[random() % sizeof(StructureGeometry)] = static_cast<std::byte>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    const Result<StructureInputs> read =
        ReadStructureInputs(Body(random() % 3, random() % 3), bytes);
    if (!read.ok()) continue;
    for (const StructureGeometry& geometry : read->geometries) {
      const uint64_t element = geometry.type == kBoxes ? kBoxBytes : VertexBytes(geometry.format);
      uint64_t span = 0;
      ASSERT_TRUE(SpanBytes(geometry.count, geometry.stride_bytes, element, &span));
      ASSERT_LE(geometry.offset_bytes, read->inputs.size());
      ASSERT_LE(span, read->inputs.size() - geometry.offset_bytes);
    }
  }
}

}  // namespace
}  // namespace cairn
