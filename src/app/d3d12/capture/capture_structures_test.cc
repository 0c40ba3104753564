// SPDX-License-Identifier: Apache-2.0
//
// A recording that begins after acceleration structures were built has the steps to them, with the inputs that they
// were built of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/capture/structure_capture.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/testing/fake_device.h"
#include "format/calls/structure_inputs.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kAllowUpdate = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE;

// "KIND steps_left copies_left: first byte of the inputs" of each step, by buffer; notes.
struct Told {
  std::vector<std::string> triangle, compacted, instances, notes;
};

class Program {
 public:
  explicit Program(ID3D12Device* device) : device_(device) {
    const D3D12_COMMAND_QUEUE_DESC desc = {};
    EXPECT_EQ(device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive()),
              S_OK);
    EXPECT_EQ(
        device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                       __uuidof(ID3D12CommandAllocator), allocator_.Receive()),
        S_OK);
    EXPECT_EQ(
        device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator_.get(), nullptr,
                                  __uuidof(ID3D12GraphicsCommandList4), list_.Receive()),
        S_OK);
    Create(&inputs, D3D12_HEAP_TYPE_UPLOAD);
    for (auto* const buffer : {&triangle, &compacted, &instances, &pointed, &gone}) {
      Create(buffer, D3D12_HEAP_TYPE_DEFAULT);
    }
  }

  void Write(uint8_t value) const {
    void* data = nullptr;
    ASSERT_EQ(inputs->Map(0, nullptr, &data), S_OK);
    std::memset(data, value, 256);
    inputs->Unmap(0, nullptr);
  }
  void BuildTriangle(const ComPtr<ID3D12Resource>& to, bool update) const {
    D3D12_RAYTRACING_GEOMETRY_DESC geometry = {};
    geometry.Type = D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES;
    geometry.Triangles.VertexFormat = DXGI_FORMAT_R32G32B32_FLOAT;
    geometry.Triangles.VertexCount = 3;
    geometry.Triangles.VertexBuffer = {inputs->GetGPUVirtualAddress(), 12};
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.DestAccelerationStructureData = to->GetGPUVirtualAddress();
    desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL;
    desc.Inputs.Flags = kAllowUpdate;
    desc.Inputs.NumDescs = 1;
    desc.Inputs.pGeometryDescs = &geometry;
    if (update) {
      desc.Inputs.Flags |= D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE;
      desc.SourceAccelerationStructureData = to->GetGPUVirtualAddress();
    }
    list_->BuildRaytracingAccelerationStructure(&desc, 0, nullptr);
  }
  void BuildInstances(const ComPtr<ID3D12Resource>& to, D3D12_ELEMENTS_LAYOUT layout) const {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.DestAccelerationStructureData = to->GetGPUVirtualAddress();
    desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
    desc.Inputs.NumDescs = 1;
    desc.Inputs.DescsLayout = layout;
    desc.Inputs.InstanceDescs = inputs->GetGPUVirtualAddress();
    list_->BuildRaytracingAccelerationStructure(&desc, 0, nullptr);
  }
  void Compact() const {
    list_->CopyRaytracingAccelerationStructure(
        compacted->GetGPUVirtualAddress(), triangle->GetGPUVirtualAddress(),
        D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT);
  }
  void Submit() const {
    ASSERT_EQ(list_->Close(), S_OK);
    ID3D12CommandList* const list = list_.get();
    queue_->ExecuteCommandLists(1, &list);
    ASSERT_EQ(list_->Reset(allocator_.get(), nullptr), S_OK);
  }
  void EndFrame() const {
    constexpr char kFrame[] = "cairn:frame";
    queue_->SetMarker(1, kFrame, sizeof(kFrame));  // PIX_EVENT_ANSI_VERSION
  }

  ComPtr<ID3D12Resource> inputs, triangle, compacted, instances, pointed, gone;

 private:
  void Create(ComPtr<ID3D12Resource>* buffer, D3D12_HEAP_TYPE type) const {
    EXPECT_EQ(CreateBuffer(device_, 4096, __uuidof(ID3D12Resource), buffer->Receive(), type), S_OK);
  }

  ID3D12Device* const device_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList4> list_;
};

std::string InWords(const std::vector<TestRecord>& records, const TestRecord& record) {
  const auto body = record.As<StructureBody>();
  const std::vector<std::byte> bytes = TestWatcher::Bytes(records, record, sizeof(StructureBody));
  std::string text = std::to_string(body.step) + " " + std::to_string(body.steps_left) + " " +
                     std::to_string(body.copies_left);
  if (bytes.empty()) return text;
  const Result<StructureInputs> read = ReadStructureInputs(body, bytes);
  if (!read.ok()) return read.status().message();
  return text + ": " + std::to_string(static_cast<int>(read->inputs.front()));
}

TEST(CaptureStructuresTest, LateRecordingHasTheStepsWithTheInputsOfThen) {
  SetVariable(kVariableOf<&LayerSettings::capture>, "on,frames=1-");
  TestWatcher watcher;
  ID3D12Device* const device = WrapDevice(CreateNewerFakeDevice(), {});
  Told told;
  uint64_t triangle = 0, compacted = 0, instances = 0;
  {
    Program program(device);
    program.Write(1);
    program.BuildTriangle(program.triangle, /*update=*/false);
    program.BuildTriangle(program.gone, /*update=*/false);
    program.BuildInstances(program.instances, D3D12_ELEMENTS_LAYOUT_ARRAY);
    program.BuildInstances(program.pointed, D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS);
    program.Submit();
    for (const uint8_t value : {2, 3}) {
      program.Write(value);
      program.BuildTriangle(program.triangle, /*update=*/true);
      program.Submit();
    }
    program.Compact();
    program.Submit();
    program.Write(9);
    program.gone = {};
    triangle = AsWrapper(program.triangle.get())->capture_number();
    compacted = AsWrapper(program.compacted.get())->capture_number();
    instances = AsWrapper(program.instances.get())->capture_number();
    program.EndFrame();
    program.BuildTriangle(program.triangle, /*update=*/false);
    program.Submit();
  }
  device->Release();
  const std::vector<TestRecord> records = watcher.Finish();
  uint64_t last = 0, first_contents = 0, last_step = 0;
  int steps = 0;
  for (const TestRecord& record : records) {
    if (record.header.kind == RecordKind::kNote) {
      const auto body = record.As<NoteBody>();
      if (body.kind != static_cast<uint32_t>(NoteKind::kIncomplete)) continue;
      told.notes.emplace_back(reinterpret_cast<const char*>(record.body.data()) + sizeof(NoteBody),
                              body.text_bytes);
    }
    if (record.header.kind == RecordKind::kContents && first_contents == 0) {
      first_contents = record.header.number;
    }
    if (record.header.kind != RecordKind::kStructure) continue;
    ++steps;
    last_step = record.header.number;
    last = record.header.object;
    const std::string text = InWords(records, record);
    if (last == triangle) told.triangle.push_back(text);
    if (last == compacted) told.compacted.push_back(text);
    if (last == instances) told.instances.push_back(text);
  }
  EXPECT_THAT(told.triangle, ElementsAre("1 1 0: 1", "2 0 0: 3"));
  EXPECT_THAT(told.compacted, ElementsAre("1 2 1: 1", "2 1 1: 3", "4 0 0"));
  EXPECT_THAT(told.instances, ElementsAre("1 0 0: 1"));
  EXPECT_EQ(steps, 2 + 3 + 1) << "the one whose buffer is gone has none";
  EXPECT_EQ(last, instances) << "top levels come last";
  EXPECT_LT(last_step, first_contents) << "a build may overwrite what lies behind it";
  EXPECT_THAT(told.notes, ElementsAre(HasSubstr("its instances are an array of pointers")));
}

TEST(CaptureStructuresTest, OverwrittenStructuresAreForgottenAndInputsAreBounded) {
  TestWatcher watcher;
  CaptureSettings late;
  late.start_frame = 1;
  ASSERT_TRUE(Capture::Start(late).ok());
  {
    ComPtr<ID3D12Device> real;
    *real.Receive() = CreateNewerFakeDevice();
    ComPtr<ID3D12CommandQueue> queue;
    const D3D12_COMMAND_QUEUE_DESC queue_desc = {};
    ASSERT_EQ(real->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
              S_OK);
    ComPtr<ID3D12Resource> buffer;
    ASSERT_EQ(CreateBuffer(real.get(), 4096, __uuidof(ID3D12Resource), buffer.Receive(),
                           D3D12_HEAP_TYPE_DEFAULT),
              S_OK);
    // A copy of three vertices takes 48 bytes.
    StructureCapture structures(real.get(), /*most_bytes=*/3 * 48);
    structures.AddBuffer(7, buffer.get(), 4096);
    // A structure takes 256 bytes for each geometry here.
    const auto build = [&](uint64_t offset_bytes, UINT geometry_count) {
      D3D12_RAYTRACING_GEOMETRY_DESC geometry = {};
      geometry.Triangles.VertexFormat = DXGI_FORMAT_R32G32B32_FLOAT;
      geometry.Triangles.VertexCount = 3;
      geometry.Triangles.VertexBuffer = {buffer->GetGPUVirtualAddress(), 12};
      const std::vector<D3D12_RAYTRACING_GEOMETRY_DESC> geometries(geometry_count, geometry);
      D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
      desc.DestAccelerationStructureData = buffer->GetGPUVirtualAddress() + offset_bytes;
      desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL;
      desc.Inputs.NumDescs = geometry_count;
      desc.Inputs.pGeometryDescs = geometries.data();
      ListStructures list;
      list.Build(desc);
      const ListStructures* const lists[] = {&list};
      structures.Executed(lists, queue.get());
    };
    build(0, 2);
    build(256, 1);  // over the end of the first
    build(768, 1);
    build(512, 2);  // over the one before
    build(2048, 1);
    build(2304, 1);  // three copies are kept by now
    structures.Write(*Capture::Active());
  }
  const std::vector<TestRecord> records = watcher.Finish();
  std::vector<uint64_t> offsets;
  std::string notes;
  for (const TestRecord& record : records) {
    if (record.header.kind == RecordKind::kStructure) {
      EXPECT_EQ(record.header.object, 7u);
      offsets.push_back(record.As<StructureBody>().offset_bytes);
    }
    if (record.header.kind == RecordKind::kNote) {
      notes.append(reinterpret_cast<const char*>(record.body.data()) + sizeof(NoteBody),
                   record.As<NoteBody>().text_bytes);
    }
  }
  EXPECT_THAT(offsets, ElementsAre(256, 512, 2048));
  EXPECT_THAT(
      notes,
      HasSubstr(
          "the acceleration structure at byte 2304 of resource #7 is not restored: the inputs "
          "of all structures are more than 144 bytes"));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
