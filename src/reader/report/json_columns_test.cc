// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "format/snapshot/rows.h"

namespace cairn {
namespace {

using ::testing::IsEmpty;

// Collects the fields of a row that rows.h describes.
class FieldCollector {
 public:
  template <typename T>
  using Row = const T;
  struct Field {
    std::string name;
    const void* place;
  };

  std::vector<Field> fields;

  template <typename T>
  void Number(const char* name, const T& value, Privacy = Privacy::kPublic) {
    Add(name, value);
  }
  void Fixed(const char* name, const uint64_t& value, Privacy = Privacy::kPublic) {
    Add(name, value);
  }
  template <typename T>
  void Signed(const char* name, const T& value) {
    Add(name, value);
  }
  void Step(const char* name, const uint64_t& value) { Add(name, value); }
  void Rise(const char* name, const uint64_t& value) { Add(name, value); }
  void After(const char* name, const uint64_t& value, uint64_t) { Add(name, value); }
  template <typename E>
  void Choice(const char* name, const E& value, E, E) {
    Add(name, value);
  }
  template <typename E>
  void Bits(const char* name, const E& value, E, const bool& flag) {
    Add(name, value);
    Add(name, flag);
  }
  template <typename... Bools>
  void Flags(const char* name, const Bools&... flags) {
    (Add(name, flags), ...);
  }
  void Optional(const char* name, const bool& has, const uint32_t& value) {
    Add(name, has);
    Add(name, value);
  }
  void Index(const char* name, const uint32_t& value, Table) { Add(name, value); }
  void Name(const char* name, const TextRef& text) { Add(name, text); }
  void Fact(const char* name, const TextRef& text) { Add(name, text); }
  void Path(const char* name, const TextRef& text) { Add(name, text); }
  void Payload(const char* name, const TextRef& text) { Add(name, text); }
  void Handle(const char* name, const uint64_t& value) { Add(name, value); }
  void Address(const char* name, const uint64_t& value) { Add(name, value); }
  // The rows of another table are printed by columns of their own.
  template <typename... Arguments>
  void Rows(const RowFacts&, const Arguments&...) {}

 private:
  template <typename T>
  void Add(const char* name, const T& value) {
    fields.push_back({name, &value});
  }
};

// The fields of `row` that no column is made of. `left_out` are those that the JSON lacks on
// purpose.
template <typename Row>
std::vector<std::string> Forgotten(const Row& row,
                                   const std::vector<std::span<const JsonColumn<Row>>>& columns,
                                   const std::vector<const void*>& left_out = {}) {
  FieldCollector collector;
  Visit(collector, row);
  if constexpr (HasLater<FieldCollector, Row>) VisitLater(collector, row);
  std::vector<FieldPlace> places;
  for (const std::span<const JsonColumn<Row>> table : columns) {
    for (const JsonColumn<Row>& column : table) column.add_places(row, &places);
  }
  for (const void* const place : left_out) places.push_back({place, 1});
  std::vector<std::string> forgotten;
  for (const FieldCollector::Field& field : collector.fields) {
    const auto* const at = static_cast<const std::byte*>(field.place);
    const bool printed = std::any_of(places.begin(), places.end(), [at](const FieldPlace& place) {
      const auto* const begin = static_cast<const std::byte*>(place.begin);
      return begin <= at && at < begin + place.size;
    });
    if (!printed) forgotten.push_back(field.name);
  }
  return forgotten;
}

TEST(JsonColumns, HaveEveryFieldOfARow) {
  using namespace json_column;
  const Process process;
  EXPECT_THAT(Forgotten<Process>(process, {kProcess}, {&process.start_monotonic_ns}), IsEmpty());
  EXPECT_THAT(Forgotten<Incident>({}, {kIncident}), IsEmpty());
  EXPECT_THAT(Forgotten<Source>({}, {kSource}), IsEmpty());
  const Device device;
  EXPECT_THAT(Forgotten<Device>(device, {kDevice}, {&device.tells_submissions}), IsEmpty());
  const Queue queue;
  EXPECT_THAT(Forgotten<Queue>(queue, {kQueue}, {&queue.still_since_ns}), IsEmpty());
  EXPECT_THAT(Forgotten<Pipeline>({}, {kPipeline}), IsEmpty());
  const Annotation annotation;
  EXPECT_THAT(Forgotten<Annotation>(annotation, {kAnnotation}, {&annotation.payload}), IsEmpty());
  EXPECT_THAT(Forgotten<RawMarker>({}, {kRawMarker}), IsEmpty());
  EXPECT_THAT(Forgotten<UserData>({}, {kUserData}), IsEmpty());
  const Object object{.state = ObjectState::kDestroyed};
  EXPECT_THAT(Forgotten<Object>(object, {kObjectState, kObject, kSemaphore}), IsEmpty());
  EXPECT_THAT(Forgotten<Call>({}, {kCall}), IsEmpty());
  const Thread thread;
  EXPECT_THAT(Forgotten<Thread>(thread, {kThread}, {&thread.ended_ns}), IsEmpty());
  EXPECT_THAT(Forgotten<ReportedEventId>({}, {kReportedEventId}), IsEmpty());
  EXPECT_THAT(Forgotten<QueueMarker>({}, {kQueueMarker}), IsEmpty());
  const Sync sync;
  EXPECT_THAT(Forgotten<Sync>(sync, {kSync}, {&sync.serial}), IsEmpty());
  EXPECT_THAT(Forgotten<FaultAddress>({}, {kFaultAddress}), IsEmpty());
  EXPECT_THAT(Forgotten<VendorInfo>({}, {kVendorInfo}), IsEmpty());
  EXPECT_THAT(Forgotten<Fault>({}, {kFault, kVendorBinary}), IsEmpty());
  EXPECT_THAT(Forgotten<DeviceMemory>({}, {kDeviceMemory}), IsEmpty());
  EXPECT_THAT(Forgotten<MemoryHeap>({}, {kMemoryHeap}), IsEmpty());
  EXPECT_THAT(Forgotten<Shader>({}, {kShader, kShaderTraits}), IsEmpty());
  EXPECT_THAT(Forgotten<KernelLine>({}, {kKernelLine}), IsEmpty());
}

TEST(JsonColumns, AFieldWithoutAColumnIsNoticed) {
  EXPECT_THAT(Forgotten<Queue>({}, {json_column::kQueue}), testing::ElementsAre("still_since_ns"));
}

TEST(JsonRows, AreObjectsOfAnArray) {
  Snapshot snapshot;
  snapshot.raw_markers = {{.device = kNone, .index = 3, .value = 0x2a}, {.device = 0}};
  std::string text;
  JsonWriter json(&text, JsonWriter::kOneLine);
  const JsonRows rows(snapshot, &json);
  json.BeginObject();
  rows.Array("raw_markers", snapshot.raw_markers, json_column::kRawMarker,
             [&json](const RawMarker&, size_t index) { json.NumberKey("index", index); });
  json.EndObject();
  EXPECT_EQ(text, R"({"raw_markers":[{"device":null,"slot":3,"value":"0x2a","index":0},)"
                  R"({"device":0,"slot":0,"value":"0x0","index":1}]})");
}

}  // namespace
}  // namespace cairn
