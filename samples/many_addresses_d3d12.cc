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

#include "d3d12_structures.h"
#include "embedded/fill.cs.dxil.h"

namespace {

constexpr uint32_t kSlots = 2;  // a frame is written while the GPU works on the one before
constexpr uint32_t kGroupSize = 64;
constexpr uint32_t kOutputs = 64;  // a command takes one of them
constexpr uint32_t kShapes = 8;

struct Command {
  uint32_t first;
  uint32_t value;
  uint64_t output;
  D3D12_DISPATCH_ARGUMENTS dispatch;
  uint32_t padding;
};
static_assert(sizeof(Command) == 32);

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

// Bottom levels, and a top level of instances of them.
struct Structures {
  Structures(sample::Gpu& gpu, ID3D12Device5* device, uint32_t instances)
      : vertices(gpu.CreateUploadBuffer(sample::kTriangleFloats)),
        geometry(sample::TriangleGeometry(vertices.resource->GetGPUVirtualAddress())) {
    std::memcpy(vertices.words, sample::kTriangle, sizeof(sample::kTriangle));
    for (sample::Level& shape : shapes) shape.AllocateBottom(gpu, device, &geometry);
    all.AllocateTop(gpu, device, instances);
  }
  Structures(const Structures&) = delete;
  Structures& operator=(const Structures&) = delete;

  sample::Buffer vertices;
  D3D12_RAYTRACING_GEOMETRY_DESC geometry;
  std::array<sample::Level, kShapes> shapes;
  sample::Level all;
};

struct Slot {
  Slot(sample::Gpu& gpu, const sample::Queue& queue, uint32_t commands, uint32_t instances)
      : list(gpu, queue, "Frame"),
        commands(gpu.CreateUploadBuffer(sample::Words(uint64_t{commands} * sizeof(Command)))),
        instances(gpu.CreateUploadBuffer(
            sample::Words(uint64_t{instances} * sizeof(D3D12_RAYTRACING_INSTANCE_DESC)))) {}
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
    if (!sample::HasRayTracing(gpu.device())) instance_count = 0;
    if (instance_count != 0) {
      structures = std::make_unique<Structures>(
          gpu, sample::Newer<ID3D12Device5>(gpu.device()).get(), instance_count);
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

void BuildShapes(Scene& scene) {
  sample::List& list = scene.slots[0]->list;
  list.Begin();
  const auto rays = sample::Newer<ID3D12GraphicsCommandList4>(list.d3d12());
  for (const sample::Level& shape : scene.structures->shapes) shape.Build(list, rays.get());
  list.End();
  scene.queue.Execute({&list});
  scene.queue.WaitOrReportLoss(20);
}

constexpr uint32_t Value(uint32_t frame, uint32_t output) {
  return frame * 1000 + output;
}

void WriteFrame(const Scene& scene, const Slot& slot, uint32_t frame) {
  std::array<D3D12_GPU_VIRTUAL_ADDRESS, kOutputs> outputs;
  for (uint32_t i = 0; i < kOutputs; ++i) {
    outputs[i] = scene.outputs[i].resource->GetGPUVirtualAddress();
  }
  auto* const commands = reinterpret_cast<Command*>(slot.commands.words);
  for (uint32_t i = 0; i < scene.command_count; ++i) {
    const uint32_t output = (i + frame) % kOutputs;
    commands[i] = {0, Value(frame, output), outputs[output], {1, 1, 1}, 0};
  }
  if (scene.structures == nullptr) return;
  std::array<D3D12_GPU_VIRTUAL_ADDRESS, kShapes> shapes;
  for (uint32_t i = 0; i < kShapes; ++i) shapes[i] = scene.structures->shapes[i].Address();
  auto* const instances = reinterpret_cast<D3D12_RAYTRACING_INSTANCE_DESC*>(slot.instances.words);
  for (uint32_t i = 0; i < scene.instance_count; ++i) {
    D3D12_RAYTRACING_INSTANCE_DESC desc = {};
    for (uint32_t axis = 0; axis < 3; ++axis) desc.Transform[axis][axis] = 0.4f;
    desc.Transform[0][3] = static_cast<float>(i + frame);
    desc.InstanceMask = 0xFF;
    desc.AccelerationStructure = shapes[(i + frame) % kShapes];
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
      sample::Level& all = scene.structures->all;
      all.inputs.InstanceDescs = slot.instances.resource->GetGPUVirtualAddress();
      all.Build(slot.list, sample::Newer<ID3D12GraphicsCommandList4>(slot.list.d3d12()).get());
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
