// SPDX-License-Identifier: Apache-2.0
//
// A heap over the program's own memory: the program writes there without Map, and the GPU copies what it finds.
#include <fmt/format.h>

#include <cstdlib>

#include "command_line.h"
#include "d3d12_device.h"

namespace {

constexpr uint32_t kWords = 16384;  // 64 KiB
constexpr uint32_t kRounds = 3;

uint32_t ValueAt(uint32_t round, uint32_t word) {
  return (round + 1) * 0x01000000 + word;
}

// Pages of the program's own, which stay until it ends.
uint32_t* Allocate() {
  constexpr size_t kBytes = kWords * sizeof(uint32_t);
#if defined(_WIN32)
  return static_cast<uint32_t*>(VirtualAlloc(nullptr, kBytes, MEM_COMMIT, PAGE_READWRITE));
#else
  return static_cast<uint32_t*>(std::aligned_alloc(kBytes, kBytes));
#endif
}

sample::ComPtr<ID3D12Heap> Import(ID3D12Device* device, const void* memory) {
  sample::ComPtr<ID3D12Device3> newer;
  if (FAILED(device->QueryInterface(__uuidof(ID3D12Device3),
                                    reinterpret_cast<void**>(newer.Receive())))) {
    sample::Lack("ID3D12Device3");
  }
  sample::ComPtr<ID3D12Heap> heap;
  const HRESULT result =
      newer->OpenExistingHeapFromAddress(memory, __uuidof(ID3D12Heap), heap.Receive());
  if (result == E_NOTIMPL) sample::Lack("heaps over a program's memory");
  sample::Check(result, "OpenExistingHeapFromAddress");
  return heap;
}

sample::ComPtr<ID3D12Resource> Place(ID3D12Device* device, ID3D12Heap* heap) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = kWords * sizeof(uint32_t);
  desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER;
  sample::ComPtr<ID3D12Resource> buffer;
  sample::Check(device->CreatePlacedResource(heap, 0, &desc, D3D12_RESOURCE_STATE_COPY_SOURCE,
                                             nullptr, __uuidof(ID3D12Resource), buffer.Receive()),
                "CreatePlacedResource");
  sample::SetName(buffer.get(), "In the program's memory");
  return buffer;
}

void Run(const sample::Options& options) {
  uint32_t* const words = Allocate();
  if (words == nullptr) sample::Fail("there is no memory");
  sample::Gpu gpu("import_d3d12", options);
  const sample::ComPtr<ID3D12Heap> heap = Import(gpu.device(), words);
  const sample::ComPtr<ID3D12Resource> buffer = Place(gpu.device(), heap.get());
  const sample::Buffer copy = gpu.CreateReadbackBuffer(kWords);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  sample::List list(gpu, queue, "Copy");
  bool correct = true;
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t i = 0; i < kWords; ++i) words[i] = ValueAt(round, i);
    list.Begin();
    list->CopyBufferRegion(copy.resource.get(), 0, buffer.get(), 0, kWords * sizeof(uint32_t));
    list.End();
    queue.Execute({&list});
    queue.WaitOrReportLoss(30);
    // The program reads what the GPU wrote.
    void* data = nullptr;
    sample::Check(copy.resource->Map(0, nullptr, &data), "Map");
    for (uint32_t i = 0; i < kWords; ++i) correct = correct && copy.words[i] == ValueAt(round, i);
    fmt::print("round {}: 0x{:08x} to 0x{:08x}\n", round, copy.words[0], copy.words[kWords - 1]);
    copy.resource->Unmap(0, nullptr);
  }
  if (!correct) sample::Fail("the GPU read other values than the program wrote");
  fmt::print("what the GPU read is correct\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Lends memory to the GPU, and lets it copy what is written there.");
  sample::Options options;
  sample::AddOptions(line, &options);
  line.Read(argc, argv);
  Run(options);
  return 0;
}
