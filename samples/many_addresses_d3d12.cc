// SPDX-License-Identifier: Apache-2.0
//
// Frames full of addresses that the CPU writes into buffers: ExecuteIndirect of many dispatches, each with the address
// of its output, and a top level of many instances, each with the address of its bottom level. In every frame all of
// them are other ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "d3d12_device.h"
#include "embedded/fill.cs.dxil.h"

namespace {

constexpr uint32_t kSlots = 2;  // a frame is written while the GPU works on the one before
constexpr uint32_t kGroupSize = 64;
constexpr uint32_t kOutputs = 64;  // a command takes one of them
constexpr uint32_t kShapes = 8;
constexpr uint32_t kVertexFloats = 9;

struct Command {
  uint32_t first;
  uint32_t value;
  uint64_t output;
  D3D12_DISPATCH_ARGUMENTS dispatch;
  uint32_t padding;
};
static_assert(sizeof(Command) == 32);

constexpr uint32_t Words(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t));
}

sample::ComPtr<ID3D12CommandSignature> CreateSignature(ID3D12Device* device,
                                                       const sample::Pipeline& pipeline) {
  std::array<D3D12_INDIRECT_ARGUMENT_DESC, 3> arguments = {};
  arguments[0].Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT;
  arguments[0].Constant.Num32BitValuesToSet = 2;
  arguments[1].Type = D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW;
  arguments[1].UnorderedAccessView.RootParameterIndex = 1;
  arguments[2].Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
  const D3D12_COMMAND_SIGNATURE_DESC desc = {sizeof(Command), arguments.size(), arguments.data(),
                                             0};
  sample::ComPtr<ID3D12CommandSignature> signature;
  const HRESULT result = device->CreateCommandSignature(
      &desc, pipeline.root_signature.get(), __uuidof(ID3D12CommandSignature), signature.Receive());
  if (result == E_NOTIMPL) sample::Lack("addresses among indirect arguments");
  sample::Check(result, "CreateCommandSignature");
  return signature;
}

// A level of an acceleration structure, and what building it takes.
struct Level {
  D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs = {};
  sample::Buffer structure;
  sample::Buffer scratch;

  void Allocate(sample::Gpu& gpu, ID3D12Device5* device) {
    D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO sizes = {};
    device->GetRaytracingAccelerationStructurePrebuildInfo(&inputs, &sizes);
    structure = gpu.CreateGpuBuffer(Words(sizes.ResultDataMaxSizeInBytes),
                                    D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE);
    scratch = gpu.CreateGpuBuffer(Words(sizes.ScratchDataSizeInBytes),
                                  D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  }
  D3D12_GPU_VIRTUAL_ADDRESS Address() const { return structure.resource->GetGPUVirtualAddress(); }
  void Build(sample::List& list, ID3D12GraphicsCommandList4* rays,
             D3D12_GPU_VIRTUAL_ADDRESS instances = 0) const {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.DestAccelerationStructureData = Address();
    desc.Inputs = inputs;
    if (instances != 0) desc.Inputs.InstanceDescs = instances;
    desc.ScratchAccelerationStructureData = scratch.resource->GetGPUVirtualAddress();
    rays->BuildRaytracingAccelerationStructure(&desc, 0, nullptr);
    list.Barrier();
  }
};

// Bottom levels, and a top level of instances of them.
struct Structures {
  Structures(sample::Gpu& gpu, sample::ComPtr<ID3D12Device5> device, uint32_t instances)
      : vertices(gpu.CreateUploadBuffer(kVertexFloats)) {
    const float corners[kVertexFloats] = {0, 1, 0, 1, -1, 0, -1, -1, 0};
    std::memcpy(vertices.words, corners, sizeof(corners));
    geometry.Type = D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES;
    geometry.Flags = D3D12_RAYTRACING_GEOMETRY_FLAG_OPAQUE;
    geometry.Triangles.VertexFormat = DXGI_FORMAT_R32G32B32_FLOAT;
    geometry.Triangles.VertexCount = 3;
    geometry.Triangles.VertexBuffer = {vertices.resource->GetGPUVirtualAddress(),
                                       3 * sizeof(float)};
    for (Level& shape : shapes) {
      shape.inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL;
      shape.inputs.NumDescs = 1;
      shape.inputs.DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY;
      shape.inputs.pGeometryDescs = &geometry;
      shape.Allocate(gpu, device.get());
    }
    all.inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
    all.inputs.NumDescs = instances;
    all.inputs.DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY;
    all.Allocate(gpu, device.get());
  }
  Structures(const Structures&) = delete;
  Structures& operator=(const Structures&) = delete;

  sample::Buffer vertices;
  D3D12_RAYTRACING_GEOMETRY_DESC geometry = {};
  std::array<Level, kShapes> shapes;
  Level all;
};

struct Slot {
  Slot(sample::Gpu& gpu, const sample::Queue& queue, uint32_t commands, uint32_t instances)
      : list(gpu, queue, "Frame"),
        commands(gpu.CreateUploadBuffer(Words(uint64_t{commands} * sizeof(Command)))),
        instances(gpu.CreateUploadBuffer(
            Words(uint64_t{instances} * sizeof(D3D12_RAYTRACING_INSTANCE_DESC)))) {}
  sample::List list;
  sample::Buffer commands;
  sample::Buffer instances;
};

struct Scene {
  Scene(const sample::Options& options, uint32_t commands, uint32_t instances)
      : gpu("sample-many-addresses-d3d12", options, D3D_SHADER_MODEL_6_0),
        queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics"),
        fill(sample::CreateComputePipeline(
            gpu, "Fill", {"FillCS", kFillCsDxil, sizeof(kFillCsDxil)}, 2, sample::Output::kRaw)),
        signature(CreateSignature(gpu.device(), fill)),
        command_count(commands),
        instance_count(instances) {
    for (sample::Buffer& output : outputs) output = gpu.CreateBuffer(kGroupSize);
    D3D12_FEATURE_DATA_D3D12_OPTIONS5 facts = {};
    const HRESULT asked =
        gpu.device()->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS5, &facts, sizeof(facts));
    if (FAILED(asked) || facts.RaytracingTier < D3D12_RAYTRACING_TIER_1_0) instance_count = 0;
    if (instance_count != 0) {
      sample::ComPtr<ID3D12Device5> device;
      sample::Check(gpu.device()->QueryInterface(__uuidof(ID3D12Device5), device.Receive()),
                    "QueryInterface");
      structures = std::make_unique<Structures>(gpu, device, instance_count);
    }
    for (std::unique_ptr<Slot>& slot : slots) {
      slot = std::make_unique<Slot>(gpu, queue, commands, std::max(instance_count, 1u));
    }
  }
  sample::Gpu gpu;
  sample::Queue queue;
  sample::Pipeline fill;
  sample::ComPtr<ID3D12CommandSignature> signature;
  uint32_t command_count;
  uint32_t instance_count;
  std::array<sample::Buffer, kOutputs> outputs;
  std::unique_ptr<Structures> structures;  // null: this implementation has no ray tracing
  std::array<std::unique_ptr<Slot>, kSlots> slots;
};

sample::ComPtr<ID3D12GraphicsCommandList4> Rays(const sample::List& list) {
  sample::ComPtr<ID3D12GraphicsCommandList4> rays;
  sample::Check(list.d3d12()->QueryInterface(__uuidof(ID3D12GraphicsCommandList4), rays.Receive()),
                "QueryInterface");
  return rays;
}

void BuildShapes(Scene& scene) {
  sample::List& list = scene.slots[0]->list;
  list.Begin();
  for (const Level& shape : scene.structures->shapes) shape.Build(list, Rays(list).get());
  list.End();
  scene.queue.Execute({&list});
  scene.queue.WaitOrReportLoss(20);
}

constexpr uint32_t Value(uint32_t frame, uint32_t output) {
  return frame * 1000 + output;
}

void WriteFrame(const Scene& scene, const Slot& slot, uint32_t frame) {
  auto* const commands = reinterpret_cast<Command*>(slot.commands.words);
  for (uint32_t i = 0; i < scene.command_count; ++i) {
    const uint32_t output = (i + frame) % kOutputs;
    commands[i] = {0,
                   Value(frame, output),
                   scene.outputs[output].resource->GetGPUVirtualAddress(),
                   {1, 1, 1},
                   0};
  }
  auto* const instances = reinterpret_cast<D3D12_RAYTRACING_INSTANCE_DESC*>(slot.instances.words);
  for (uint32_t i = 0; i < scene.instance_count; ++i) {
    D3D12_RAYTRACING_INSTANCE_DESC desc = {};
    for (uint32_t axis = 0; axis < 3; ++axis) desc.Transform[axis][axis] = 0.4f;
    desc.Transform[0][3] = static_cast<float>(i + frame);
    desc.InstanceMask = 0xFF;
    desc.AccelerationStructure = scene.structures->shapes[(i + frame) % kShapes].Address();
    instances[i] = desc;
  }
}

void RecordFrame(Scene& scene, Slot& slot) {
  slot.list.Begin();
  {
    const sample::Scope pass(slot.list, CAIRN_MARKER_PASS, "Frame");
    slot.list.SetPipeline(scene.fill);
    const sample::Scope work(slot.list, CAIRN_MARKER_EXECUTE_INDIRECT);
    slot.list->ExecuteIndirect(scene.signature.get(), scene.command_count,
                               slot.commands.resource.get(), 0, nullptr, 0);
    if (scene.structures != nullptr) {
      scene.structures->all.Build(slot.list, Rays(slot.list).get(),
                                  slot.instances.resource->GetGPUVirtualAddress());
    }
  }
  slot.list.End();
}

void Run(const sample::Options& options, uint32_t frames, uint32_t commands, uint32_t instances) {
  Scene scene(options, commands, instances);
  if (scene.structures != nullptr) BuildShapes(scene);
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t frame = 0; frame < frames; ++frame) {
    if (frame >= kSlots) scene.queue.WaitOrReportLoss(60, kSlots - 1);
    Slot& slot = *scene.slots[frame % kSlots];
    WriteFrame(scene, slot, frame);
    RecordFrame(scene, slot);
    scene.queue.Execute({&slot.list});
    scene.gpu.telling().NextFrame(scene.queue.d3d12());
  }
  scene.queue.WaitOrReportLoss(60);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  for (uint32_t output = 0; output < std::min(kOutputs, commands); ++output) {
    for (uint32_t i = 0; i < kGroupSize; ++i) {
      const uint32_t found = scene.outputs[output].words[i];
      if (found != Value(frames - 1, output) + i) {
        sample::Fail(fmt::format("word {} of output {} is wrong: {}", i, output, found));
      }
    }
  }
  fmt::print("sample-many-addresses-d3d12: {} commands and {} instances: {:.0f} us a frame\n",
             commands, scene.instance_count, time.count() / frames);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Makes frames whose buffers are full of addresses.");
  sample::Options options;
  uint32_t frames = 200;
  uint32_t commands = 10'000;
  uint32_t instances = 10'000;
  sample::AddOptions(line, &options);
  line.Number("--frames", &frames, 1u, 1'000'000u, "How many frames");
  line.Number("--commands", &commands, 64u, 1'000'000u, "Indirect dispatches a frame");
  line.Number("--instances", &instances, 0u, 1'000'000u,
              "Instances a frame; none where there is no ray tracing");
  line.Read(argc, argv);
  Run(options, frames, commands, instances);
  return 0;
}
