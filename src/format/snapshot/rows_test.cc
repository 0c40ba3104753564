// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace cairn {
namespace {

using ::testing::IsEmpty;

// Notes which bytes of a row are visited.
template <typename Owner>
class Footprint {
 public:
  template <typename T>
  using Row = T;

  explicit Footprint(const Owner& row) : begin_(reinterpret_cast<const std::byte*>(&row)) {}

  bool visited(size_t offset) const { return visited_[offset]; }

  template <typename T>
  void Number(const char*, T& value, Privacy = Privacy::kPublic) {
    Mark(value);
  }
  void Fixed(const char*, uint64_t& value, Privacy = Privacy::kPublic) { Mark(value); }
  template <typename T>
  void Signed(const char*, T& value) {
    Mark(value);
  }
  void Step(const char*, uint64_t& value) { Mark(value); }
  void Rise(const char*, uint64_t& value) { Mark(value); }
  void After(const char*, uint64_t& value, uint64_t) { Mark(value); }
  template <typename E>
  void Choice(const char*, E& value, E, E) {
    Mark(value);
  }
  // A row may end behind an enumerator that says that it is empty.
  template <typename E>
  void Bits(const char*, E& value, E last, bool& flag) {
    Mark(value);
    Mark(flag);
    value = last;
  }
  template <typename... Flag>
  void Flags(const char*, Flag&... flags) {
    (Mark(flags), ...);
  }
  void Optional(const char*, bool& has, uint32_t& value) {
    Mark(has);
    Mark(value);
  }
  void Index(const char*, uint32_t& index, Table) { Mark(index); }
  void Name(const char*, TextRef& text) { Mark(text); }
  void Fact(const char*, TextRef& text) { Mark(text); }
  void Path(const char*, TextRef& text) { Mark(text); }
  void Payload(const char*, TextRef& bytes) { Mark(bytes); }
  void Handle(const char*, uint64_t& handle) { Mark(handle); }
  void Address(const char*, uint64_t& address) { Mark(address); }
  template <typename T>
  void Rows(const RowFacts&, std::vector<T> Snapshot::*, uint32_t& first, uint32_t& count) {
    Mark(first);
    Mark(count);
  }
  void Events(uint32_t& first, uint32_t& count) {
    Mark(first);
    Mark(count);
  }
  // Marks a member that is stored in a chunk of its own.
  template <typename T>
  void Mark(T& field) {
    const size_t offset = static_cast<size_t>(reinterpret_cast<const std::byte*>(&field) - begin_);
    for (size_t i = 0; i < sizeof(T); ++i) visited_.at(offset + i) = true;
  }

 private:
  const std::byte* const begin_;
  std::array<bool, sizeof(Owner)> visited_{};
};

// A row in memory that held something else: padding shows it still, every field has its own value.
template <typename T>
struct RowInMemory {
  explicit RowInMemory(int before) {
    std::memset(bytes, before, sizeof(bytes));
    row = new (bytes) T;
  }
  alignas(T) std::byte bytes[sizeof(T)];
  T* row;
};

// Returns the byte offsets of the fields that no Visit covers.
template <typename T, typename... Elsewhere>
std::vector<size_t> Forgotten(Elsewhere T::*... elsewhere) {
  RowInMemory<T> one(0x55), other(0xAA);
  std::vector<size_t> fields;
  for (size_t i = 0; i < sizeof(T); ++i) {
    if (one.bytes[i] == other.bytes[i]) fields.push_back(i);
  }
  Footprint<T> footprint(*one.row);
  Visit(footprint, *one.row);
  if constexpr (HasLater<Footprint<T>, T>) VisitLater(footprint, *one.row);
  (footprint.Mark(one.row->*elsewhere), ...);
  std::erase_if(fields, [&](size_t offset) { return footprint.visited(offset); });
  return fields;
}

TEST(Rows, EveryFieldIsVisited) {
  EXPECT_THAT(Forgotten<Process>(), IsEmpty());
  EXPECT_THAT(Forgotten<Incident>(), IsEmpty());
  EXPECT_THAT(Forgotten<Source>(), IsEmpty());
  EXPECT_THAT(Forgotten<Device>(), IsEmpty());
  EXPECT_THAT(Forgotten<Queue>(), IsEmpty());
  EXPECT_THAT(Forgotten<Pipeline>(), IsEmpty());
  EXPECT_THAT(Forgotten<Annotation>(), IsEmpty());
  EXPECT_THAT(Forgotten<Object>(), IsEmpty());
  EXPECT_THAT(Forgotten<Recording>(), IsEmpty());
  EXPECT_THAT(Forgotten<Submission>(), IsEmpty());
  EXPECT_THAT(Forgotten<RawMarker>(), IsEmpty());
  EXPECT_THAT(Forgotten<Call>(), IsEmpty());
  EXPECT_THAT(Forgotten<CallArgument>(), IsEmpty());
  EXPECT_THAT(Forgotten<Thread>(), IsEmpty());
  EXPECT_THAT(Forgotten<ReportedEventId>(), IsEmpty());
  EXPECT_THAT(Forgotten<QueueMarker>(), IsEmpty());
  EXPECT_THAT(Forgotten<Sync>(), IsEmpty());
  EXPECT_THAT(Forgotten<SubmissionEnd>(), IsEmpty());
  EXPECT_THAT(Forgotten<DeviceMemory>(), IsEmpty());
  EXPECT_THAT(Forgotten<MemoryHeap>(), IsEmpty());
  EXPECT_THAT(Forgotten<VendorInfo>(), IsEmpty());
  EXPECT_THAT(Forgotten<Fault>(&Fault::vendor_binary), IsEmpty());
  EXPECT_THAT(Forgotten<Checkpoint>(), IsEmpty());
  EXPECT_THAT(Forgotten<Destruction>(), IsEmpty());
  EXPECT_THAT(Forgotten<Descriptor>(), IsEmpty());
  EXPECT_THAT(Forgotten<DescriptorSet>(), IsEmpty());
  EXPECT_THAT(Forgotten<ShaderDescriptor>(), IsEmpty());
  EXPECT_THAT(Forgotten<PipelineDescriptors>(), IsEmpty());
  EXPECT_THAT(Forgotten<DescribedPipeline>(), IsEmpty());
  EXPECT_THAT(Forgotten<KernelLine>(), IsEmpty());
  EXPECT_THAT(Forgotten<KernelLog>(), IsEmpty());
  EXPECT_THAT(Forgotten<Shader>(&Shader::bytes), IsEmpty());
  EXPECT_THAT(Forgotten<UserData>(&UserData::bytes), IsEmpty());
}

// Tests the test: without its bytes, a shader has sixteen bytes that no Visit covers.
TEST(Rows, AForgottenFieldIsSeen) {
  EXPECT_EQ(Forgotten<Shader>().size(), sizeof(BlobRef));
}

}  // namespace
}  // namespace cairn
