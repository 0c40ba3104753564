// SPDX-License-Identifier: Apache-2.0
//
// Lists, queues and what the GPU does for them: states, results and pixels.
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/testing/test_signature.h"
#include "embedded/fill.cs.dxbc.h"
#include "embedded/solid.ps.dxbc.h"
#include "embedded/solid.vs.dxbc.h"
#include "invisible/observer.h"

namespace observe {
namespace {

constexpr uint32_t kSize = 64;

ComPtr<ID3D12RootSignature> RootConstants(Scene& scene, uint32_t count, bool with_uav) {
  std::array<D3D12_ROOT_PARAMETER, 2> parameters = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[0].Constants.Num32BitValues = count;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  desc.NumParameters = with_uav ? 2 : 1;
  desc.pParameters = parameters.data();
  ComPtr<ID3D12RootSignature> signature;
  static_cast<void>(cairn::CreateTestSignature(scene.device.get(), desc,
                                               __uuidof(ID3D12RootSignature), signature.Receive()));
  return signature;
}

ComPtr<ID3D12PipelineState> FillPipeline(Scene& scene, ID3D12RootSignature* signature) {
  D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = signature;
  desc.CS = {kFillCsDxbc, sizeof(kFillCsDxbc)};
  ComPtr<ID3D12PipelineState> pipeline;
  scene.device->CreateComputePipelineState(&desc, __uuidof(ID3D12PipelineState),
                                           pipeline.Receive());
  return pipeline;
}

ComPtr<ID3D12PipelineState> SolidPipeline(Scene& scene, ID3D12RootSignature* signature) {
  D3D12_GRAPHICS_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = signature;
  desc.VS = {kSolidVsDxbc, sizeof(kSolidVsDxbc)};
  desc.PS = {kSolidPsDxbc, sizeof(kSolidPsDxbc)};
  desc.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
  desc.SampleMask = 0xFFFFFFFF;
  desc.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
  desc.RasterizerState.CullMode = D3D12_CULL_MODE_NONE;
  desc.PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE;
  desc.NumRenderTargets = 1;
  desc.RTVFormats[0] = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  ComPtr<ID3D12PipelineState> pipeline;
  scene.device->CreateGraphicsPipelineState(&desc, __uuidof(ID3D12PipelineState),
                                            pipeline.Receive());
  return pipeline;
}

struct SolidConstants {
  float offset_scale[4];
  float colour[4];
};

// A target with its view and the state that draws need.
struct Canvas {
  explicit Canvas(Scene& scene)
      : scene(scene),
        signature(RootConstants(scene, 8, false)),
        pipeline(SolidPipeline(scene, signature.get())),
        target(scene.Target(kSize, kSize)) {
    const D3D12_DESCRIPTOR_HEAP_DESC desc = {D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 2,
                                             D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 0};
    scene.device->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), views.Receive());
    view = cairn::GetCpuStart(views.get());
    scene.device->CreateRenderTargetView(target.get(), nullptr, view);
  }

  void Bind() {
    ID3D12GraphicsCommandList* list = scene.list.get();
    list->OMSetRenderTargets(1, &view, 0, nullptr);
    list->SetGraphicsRootSignature(signature.get());
    list->SetPipelineState(pipeline.get());
    list->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    const D3D12_VIEWPORT viewport = {0, 0, kSize, kSize, 0, 1};
    const D3D12_RECT scissor = {0, 0, kSize, kSize};
    list->RSSetViewports(1, &viewport);
    list->RSSetScissorRects(1, &scissor);
  }
  void Clear() {
    const float colour[4] = {0.1f, 0.2f, 0.3f, 1};
    scene.list->ClearRenderTargetView(view, colour, 0, nullptr);
  }
  void Draw(float x, float y, float red) {
    const SolidConstants constants = {{x, y, 0.4f, 0.4f}, {red, 0.5f, 0.25f, 1}};
    scene.list->SetGraphicsRoot32BitConstants(0, 8, &constants, 0);
    scene.list->DrawInstanced(3, 1, 0, 0);
  }
  uint64_t Hash() { return scene.HashTarget(target.get(), kSize, kSize); }

  Scene& scene;
  ComPtr<ID3D12RootSignature> signature;
  ComPtr<ID3D12PipelineState> pipeline;
  ComPtr<ID3D12Resource> target;
  ComPtr<ID3D12DescriptorHeap> views;
  D3D12_CPU_DESCRIPTOR_HANDLE view;
};

void ObserveCopies(Observer& out, Scene& scene) {
  const auto upload =
      scene.Buffer(D3D12_HEAP_TYPE_UPLOAD, 65536, D3D12_RESOURCE_STATE_GENERIC_READ);
  void* memory = nullptr;
  out.NoteResult("map", upload->Map(0, nullptr, &memory));
  for (uint32_t i = 0; i < 65536; ++i)
    static_cast<uint8_t*>(memory)[i] = static_cast<uint8_t>(i * 7);
  upload->Unmap(0, nullptr);
  out.NoteResult("map nothing", upload->Map(0, nullptr, nullptr));
  upload->Unmap(0, nullptr);
  out.NoteResult("map no subresource", upload->Map(1, nullptr, &memory));
  const auto destination =
      scene.Buffer(D3D12_HEAP_TYPE_DEFAULT, 65536, D3D12_RESOURCE_STATE_COPY_DEST);
  scene.list->CopyResource(destination.get(), upload.get());
  scene.list->CopyBufferRegion(destination.get(), 100, upload.get(), 500, 1000);
  scene.Transition(destination.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                   D3D12_RESOURCE_STATE_COPY_SOURCE);
  out.Note("copied", scene.HashBuffer(destination.get(), 65536));
}

void ObserveCompute(Observer& out, Scene& scene) {
  const auto signature = RootConstants(scene, 3, true);
  const auto pipeline = FillPipeline(scene, signature.get());
  const auto buffer =
      scene.Buffer(D3D12_HEAP_TYPE_DEFAULT, 4096, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                   D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  const auto zero = scene.Buffer(D3D12_HEAP_TYPE_UPLOAD, 4096, D3D12_RESOURCE_STATE_GENERIC_READ);
  void* memory = nullptr;
  zero->Map(0, nullptr, &memory);
  std::memset(memory, 0, 4096);
  zero->Unmap(0, nullptr);
  scene.Transition(buffer.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                   D3D12_RESOURCE_STATE_COPY_DEST);
  scene.list->CopyResource(buffer.get(), zero.get());
  scene.Transition(buffer.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                   D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  scene.list->SetComputeRootSignature(signature.get());
  scene.list->SetPipelineState(pipeline.get());
  scene.list->SetComputeRootUnorderedAccessView(1, buffer->GetGPUVirtualAddress());
  for (uint32_t pass = 0; pass < 4; ++pass) {
    const uint32_t constants[3] = {100 * pass, pass * 200, 200};
    scene.list->SetComputeRoot32BitConstants(0, 3, constants, 0);
    scene.list->Dispatch(4, 1, 1);
    D3D12_RESOURCE_BARRIER barrier = {};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    barrier.UAV.pResource = pass % 2 == 0 ? buffer.get() : nullptr;
    scene.list->ResourceBarrier(1, &barrier);
  }
  // The same through ExecuteIndirect.
  D3D12_INDIRECT_ARGUMENT_DESC argument = {};
  argument.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
  const D3D12_COMMAND_SIGNATURE_DESC signature_desc = {sizeof(D3D12_DISPATCH_ARGUMENTS), 1,
                                                       &argument, 0};
  ComPtr<ID3D12CommandSignature> command;
  out.NoteResult("command signature", scene.device->CreateCommandSignature(
                                          &signature_desc, nullptr,
                                          __uuidof(ID3D12CommandSignature), command.Receive()));
  const auto arguments =
      scene.Buffer(D3D12_HEAP_TYPE_UPLOAD, 64, D3D12_RESOURCE_STATE_GENERIC_READ);
  arguments->Map(0, nullptr, &memory);
  const D3D12_DISPATCH_ARGUMENTS groups = {2, 1, 1};
  std::memcpy(memory, &groups, sizeof(groups));
  arguments->Unmap(0, nullptr);
  const uint32_t constants[3] = {5000, 900, 100};
  scene.list->SetComputeRoot32BitConstants(0, 3, constants, 0);
  scene.list->ExecuteIndirect(command.get(), 1, arguments.get(), 0, nullptr, 0);
  scene.Transition(buffer.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                   D3D12_RESOURCE_STATE_COPY_SOURCE);
  out.Note("computed", scene.HashBuffer(buffer.get(), 4096));
}

void ObservePlaced(Observer& out, Scene& scene) {
  D3D12_HEAP_DESC heap_desc = {};
  heap_desc.SizeInBytes = 1 << 20;
  heap_desc.Properties.Type = D3D12_HEAP_TYPE_READBACK;
  heap_desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ComPtr<ID3D12Heap> heap;
  out.NoteResult("heap",
                 scene.device->CreateHeap(&heap_desc, __uuidof(ID3D12Heap), heap.Receive()));
  const D3D12_RESOURCE_DESC desc = cairn::BufferDesc(65536);
  ComPtr<ID3D12Resource> first;
  ComPtr<ID3D12Resource> second;
  out.NoteResult("placed", scene.device->CreatePlacedResource(
                               heap.get(), 0, &desc, D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                               __uuidof(ID3D12Resource), first.Receive()));
  out.NoteResult("placed too", scene.device->CreatePlacedResource(
                                   heap.get(), 65536, &desc, D3D12_RESOURCE_STATE_COPY_DEST,
                                   nullptr, __uuidof(ID3D12Resource), second.Receive()));
  ComPtr<ID3D12Resource> outside;
  out.NoteResult("placed outside", scene.device->CreatePlacedResource(
                                       heap.get(), 1 << 20, &desc, D3D12_RESOURCE_STATE_COPY_DEST,
                                       nullptr, __uuidof(ID3D12Resource), outside.Receive()));
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
  barrier.Aliasing = {first.get(), second.get()};
  scene.list->ResourceBarrier(1, &barrier);
  barrier.Aliasing = {nullptr, nullptr};
  scene.list->ResourceBarrier(1, &barrier);
  out.Note("heap count", CountOf(heap.get()));
  out.Note("device count", CountOf(scene.device.get()));
  scene.Run();
  out.Note("heap released", heap.Detach()->Release());
  void* memory = nullptr;
  out.NoteResult("map placed", first->Map(0, nullptr, &memory));
  first->Unmap(0, nullptr);
  ID3D12Pageable* objects[] = {first.get(), second.get()};
  out.NoteResult("evict", scene.device->Evict(2, objects));
  out.NoteResult("resident", scene.device->MakeResident(2, objects));
}

}  // namespace

void ObserveLists(Observer& out) {
  Scene scene;
  ID3D12GraphicsCommandList* list = scene.list.get();
  ID3D12CommandAllocator* allocator = scene.allocator.get();
  out.Note("type", list->GetType());
  out.NoteResult("reset open", list->Reset(allocator, nullptr));
  out.NoteResult("allocator reset while recording", allocator->Reset());
  out.NoteResult("close", list->Close());
  out.NoteResult("close again", list->Close());
  out.NoteResult("reset", list->Reset(allocator, nullptr));
  ComPtr<ID3D12GraphicsCommandList> second;
  out.NoteResult(
      "second list, allocator in use",
      scene.device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, nullptr,
                                      __uuidof(ID3D12GraphicsCommandList), second.Receive()));
  out.NoteBool("second list", static_cast<bool>(second));
  out.NoteResult(
      "list of another type",
      scene.device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_COPY, allocator, nullptr,
                                      __uuidof(ID3D12GraphicsCommandList), second.Receive()));
  out.NoteResult("list of no type",
                 scene.device->CreateCommandList(
                     0, static_cast<D3D12_COMMAND_LIST_TYPE>(99), allocator, nullptr,
                     __uuidof(ID3D12GraphicsCommandList), second.Receive()));
  out.NoteResult("close", list->Close());
  out.NoteResult("second list", scene.device->CreateCommandList(
                                    0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, nullptr,
                                    __uuidof(ID3D12GraphicsCommandList), second.Receive()));
  if (second) {
    out.NoteResult("reset on an allocator in use", list->Reset(allocator, nullptr));
    out.Note("allocator count", CountOf(allocator));
    out.Note("list count", CountOf(second.get()));
    out.NoteResult("close second", second->Close());
    out.Note("second released", second.Detach()->Release());
  }
  out.NoteResult("reset", list->Reset(allocator, nullptr));
  list->BeginEvent(1, "event", 6);
  list->SetMarker(0, nullptr, 0);
  list->EndEvent();
  list->EndEvent();
  list->BeginEvent(2, "left open", 10);
  list->ClearState(nullptr);
  list->SetDescriptorHeaps(0, nullptr);
  list->ResourceBarrier(0, nullptr);
  list->OMSetRenderTargets(0, nullptr, 0, nullptr);
  list->IASetIndexBuffer(nullptr);
  list->IASetVertexBuffers(0, 0, nullptr);
  list->SOSetTargets(0, 0, nullptr);
  list->SetPipelineState(nullptr);
  out.NoteResult("close", list->Close());
  for (const D3D12_COMMAND_LIST_TYPE type :
       {D3D12_COMMAND_LIST_TYPE_BUNDLE, D3D12_COMMAND_LIST_TYPE_COMPUTE,
        D3D12_COMMAND_LIST_TYPE_COPY}) {
    ComPtr<ID3D12CommandAllocator> other;
    ComPtr<ID3D12GraphicsCommandList> typed;
    out.NoteResult("typed allocator", scene.device->CreateCommandAllocator(
                                          type, __uuidof(ID3D12CommandAllocator), other.Receive()));
    out.NoteResult("typed list", scene.device->CreateCommandList(
                                     0, type, other.get(), nullptr,
                                     __uuidof(ID3D12GraphicsCommandList), typed.Receive()));
    if (!typed) continue;
    out.Note("typed", typed->GetType());
    out.NoteResult("typed close", typed->Close());
    ID3D12CommandList* const lists[] = {typed.get()};
    if (type == D3D12_COMMAND_LIST_TYPE_BUNDLE) {
      list->Reset(allocator, nullptr);
      list->ExecuteBundle(typed.get());
      out.NoteResult("close with bundle", list->Close());
    } else {
      const D3D12_COMMAND_QUEUE_DESC desc = {type, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
      ComPtr<ID3D12CommandQueue> queue;
      scene.device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive());
      queue->ExecuteCommandLists(1, lists);
      queue->Signal(scene.fence.get(), ++scene.fence_value);
      scene.Wait();
    }
    out.Note("typed released", typed.Detach()->Release());
    out.Note("typed allocator released", other.Detach()->Release());
  }
  out.Note("device count", CountOf(scene.device.get()));
  // Recorded once, executed often.
  list->Reset(allocator, nullptr);
  out.NoteResult("close", list->Close());
  ID3D12CommandList* const lists[] = {list, list};
  for (int i = 0; i < 8; ++i) scene.queue->ExecuteCommandLists(1, lists);
  scene.Wait();
  out.NoteResult("removed", scene.device->GetDeviceRemovedReason());
  list->Reset(allocator, nullptr);
}

void ObserveWork(Observer& out) {
  Scene scene;
  ObserveCopies(out, scene);
  ObserveCompute(out, scene);
  ObservePlaced(out, scene);
  out.NoteResult("removed", scene.device->GetDeviceRemovedReason());
}

void ObserveDraws(Observer& out) {
  Scene scene;
  Canvas canvas(scene);
  canvas.Bind();
  canvas.Clear();
  for (int i = 0; i < 9; ++i) {
    canvas.Draw(-0.6f + 0.6f * static_cast<float>(i % 3), -0.6f + 0.6f * static_cast<float>(i / 3),
                0.1f * static_cast<float>(i));
  }
  out.Note("picture", canvas.Hash());

  // Queries around draws, and draws that a predicate leaves out.
  // (Pipeline statistics crash on lavapipe in libvkd3d itself.)
  for (const D3D12_QUERY_TYPE type :
       {D3D12_QUERY_TYPE_OCCLUSION, D3D12_QUERY_TYPE_BINARY_OCCLUSION}) {
    const D3D12_QUERY_HEAP_DESC desc = {D3D12_QUERY_HEAP_TYPE_OCCLUSION, 4, 0};
    ComPtr<ID3D12QueryHeap> heap;
    out.NoteResult("query heap",
                   scene.device->CreateQueryHeap(&desc, __uuidof(ID3D12QueryHeap), heap.Receive()));
    const auto results =
        scene.Buffer(D3D12_HEAP_TYPE_DEFAULT, 1024, D3D12_RESOURCE_STATE_COPY_DEST);
    canvas.Bind();
    canvas.Clear();
    for (uint32_t query = 0; query < 4; ++query) {
      scene.list->BeginQuery(heap.get(), type, query);
      for (uint32_t i = 0; i < query; ++i) canvas.Draw(0.2f * static_cast<float>(i), 0, 0.5f);
      scene.list->EndQuery(heap.get(), type, query);
    }
    scene.list->ResolveQueryData(heap.get(), type, 0, 4, results.get(), 0);
    scene.Transition(results.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_COPY_SOURCE);
    out.Note("query results", scene.HashBuffer(results.get(), 4 * sizeof(uint64_t)));
    out.Note("picture with queries", canvas.Hash());
  }
  const auto predicate =
      scene.Buffer(D3D12_HEAP_TYPE_UPLOAD, 64, D3D12_RESOURCE_STATE_GENERIC_READ);
  uint64_t* values = nullptr;
  predicate->Map(0, nullptr, reinterpret_cast<void**>(&values));
  values[0] = 0;
  values[1] = 1;
  predicate->Unmap(0, nullptr);
  for (const D3D12_PREDICATION_OP op :
       {D3D12_PREDICATION_OP_EQUAL_ZERO, D3D12_PREDICATION_OP_NOT_EQUAL_ZERO}) {
    canvas.Bind();
    canvas.Clear();
    for (uint32_t i = 0; i < 2; ++i) {
      scene.list->SetPredication(predicate.get(), i * 8, op);
      canvas.Draw(-0.5f + static_cast<float>(i), 0, 1);
      canvas.Draw(-0.5f + static_cast<float>(i), 0.5f, 1);
    }
    scene.list->SetPredication(nullptr, 0, op);
    canvas.Draw(0, -0.5f, 1);
    out.Note("picture with predication", canvas.Hash());
  }
  // A list that is executed again over its own result.
  canvas.Bind();
  canvas.Draw(0.3f, 0.3f, 0.9f);
  scene.list->Close();
  ID3D12CommandList* const lists[] = {scene.list.get()};
  for (int i = 0; i < 3; ++i) scene.queue->ExecuteCommandLists(1, lists);
  scene.Wait();
  scene.allocator->Reset();
  scene.list->Reset(scene.allocator.get(), canvas.pipeline.get());
  out.Note("picture after three runs", canvas.Hash());
  out.NoteResult("removed", scene.device->GetDeviceRemovedReason());
}

void ObserveQueues(Observer& out) {
  Scene scene;
  const D3D12_COMMAND_QUEUE_DESC desc = cairn::GetDesc(scene.queue.get());
  out.Note("desc", HashBytes(&desc, sizeof(desc)));
  uint64_t frequency = 0;
  out.NoteResult("frequency", scene.queue->GetTimestampFrequency(&frequency));
  out.Note("frequency", frequency);
  uint64_t gpu = 0;
  uint64_t cpu = 0;
  out.NoteResult("calibration", scene.queue->GetClockCalibration(&gpu, &cpu));
  scene.queue->BeginEvent(1, "queue event", 12);
  scene.queue->SetMarker(1, "marker", 7);
  scene.queue->EndEvent();
  scene.queue->EndEvent();
  scene.queue->ExecuteCommandLists(0, nullptr);
  out.NoteResult("open list", scene.device->GetDeviceRemovedReason());
  ComPtr<ID3D12Fence> fence;
  scene.device->CreateFence(3, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
  out.Note("initial", fence->GetCompletedValue());
  out.NoteResult("signal from CPU", fence->Signal(10));
  out.Note("completed", fence->GetCompletedValue());
  out.NoteResult("signal back", fence->Signal(5));
  out.Note("completed", fence->GetCompletedValue());
  out.NoteResult("wait", scene.queue->Wait(fence.get(), 5));
  out.NoteResult("signal", scene.queue->Signal(fence.get(), 20));
  scene.Wait();
  // The earlier wait was for another fence: an implementation may signal this one a moment later.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (fence->GetCompletedValue() < 20 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  out.Note("completed", fence->GetCompletedValue());
  out.Note("fence released", fence.Detach()->Release());
}

void ObserveThreads(Observer& out) {
  Scene scene;
  constexpr int kThreads = 8;
  std::array<uint64_t, kThreads> hashes{};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&scene, &hashes, thread] {
      uint64_t hash = 0;
      for (int round = 0; round < 20; ++round) {
        ComPtr<ID3D12CommandAllocator> allocator;
        ComPtr<ID3D12GraphicsCommandList> list;
        ComPtr<ID3D12Fence> fence;
        scene.device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                             __uuidof(ID3D12CommandAllocator), allocator.Receive());
        scene.device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                                        __uuidof(ID3D12GraphicsCommandList), list.Receive());
        scene.device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
        const auto source =
            scene.Buffer(D3D12_HEAP_TYPE_UPLOAD, 256, D3D12_RESOURCE_STATE_GENERIC_READ);
        const auto destination =
            scene.Buffer(D3D12_HEAP_TYPE_READBACK, 256, D3D12_RESOURCE_STATE_COPY_DEST);
        void* memory = nullptr;
        source->Map(0, nullptr, &memory);
        std::memset(memory, thread * 20 + round, 256);
        source->Unmap(0, nullptr);
        source->SetName(L"source");
        list->BeginEvent(1, "copy", 5);
        list->CopyResource(destination.get(), source.get());
        list->EndEvent();
        list->Close();
        ID3D12CommandList* const lists[] = {list.get()};
        scene.queue->ExecuteCommandLists(1, lists);
        scene.queue->Signal(fence.get(), 1);
        while (fence->GetCompletedValue() < 1) std::this_thread::yield();
        destination->Map(0, nullptr, &memory);
        hash = hash * 31 + HashBytes(memory, 256);
        destination->Unmap(0, nullptr);
      }
      hashes[static_cast<size_t>(thread)] = hash;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const uint64_t hash : hashes) out.Note("hash", hash);
  out.Note("device count", CountOf(scene.device.get()));
  out.Note("queue count", CountOf(scene.queue.get()));
}

}  // namespace observe
