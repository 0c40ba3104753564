// SPDX-License-Identifier: Apache-2.0
//
// kill_d3d12 COPIES SEEN: lets the GPU count to COPIES in memory that it can read, one small copy a
// number and a large one behind each, all in one command list. As soon as it reads SEEN or more, it says
// "seen NUMBER" and kills itself, while the GPU goes on; nothing in this process gets a chance to save
// anything. Knows nothing of Cairn.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/com_ptr.h"

namespace {

using cairn::ComPtr;

constexpr UINT64 kLargeBytes = 1 << 20;

void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  std::fprintf(stderr, "kill_d3d12: %s failed with %#x\n", what, static_cast<unsigned>(result));
  std::exit(2);
}

ComPtr<ID3D12Resource> CreateBuffer(ID3D12Device* device, D3D12_HEAP_TYPE heap, UINT64 bytes,
                                    D3D12_RESOURCE_STATES state) {
  D3D12_HEAP_PROPERTIES properties = {};
  properties.Type = heap;
  const D3D12_RESOURCE_DESC desc = cairn::BufferDesc(bytes);
  ComPtr<ID3D12Resource> buffer;
  Check(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                        __uuidof(ID3D12Resource), buffer.Receive()),
        "CreateCommittedResource");
  return buffer;
}

uint32_t* Map(ID3D12Resource* buffer) {
  void* memory = nullptr;
  Check(buffer->Map(0, nullptr, &memory), "Map");
  return static_cast<uint32_t*>(memory);
}

void Run(uint32_t copies, uint32_t seen) {
  ComPtr<ID3D12Device> device;
  Check(
      D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive()),
      "D3D12CreateDevice");
  D3D12_COMMAND_QUEUE_DESC queue_desc = {};
  ComPtr<ID3D12CommandQueue> queue;
  Check(device->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
        "CreateCommandQueue");
  ComPtr<ID3D12CommandAllocator> allocator;
  Check(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                       __uuidof(ID3D12CommandAllocator), allocator.Receive()),
        "CreateCommandAllocator");
  ComPtr<ID3D12GraphicsCommandList> list;
  Check(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                                  __uuidof(ID3D12GraphicsCommandList), list.Receive()),
        "CreateCommandList");

  const auto numbers = CreateBuffer(device.get(), D3D12_HEAP_TYPE_UPLOAD, (copies + 1) * 4,
                                    D3D12_RESOURCE_STATE_GENERIC_READ);
  const auto counter =
      CreateBuffer(device.get(), D3D12_HEAP_TYPE_READBACK, 4, D3D12_RESOURCE_STATE_COPY_DEST);
  const auto from =
      CreateBuffer(device.get(), D3D12_HEAP_TYPE_DEFAULT, kLargeBytes, D3D12_RESOURCE_STATE_COMMON);
  const auto to =
      CreateBuffer(device.get(), D3D12_HEAP_TYPE_DEFAULT, kLargeBytes, D3D12_RESOURCE_STATE_COMMON);
  uint32_t* const values = Map(numbers.get());
  for (uint32_t i = 0; i <= copies; ++i) values[i] = i;
  auto* const counted = reinterpret_cast<std::atomic<uint32_t>*>(Map(counter.get()));
  counted->store(0);
  for (uint32_t i = 1; i <= copies; ++i) {
    list->CopyBufferRegion(counter.get(), 0, numbers.get(), i * 4, 4);
    list->CopyBufferRegion(to.get(), 0, from.get(), 0, kLargeBytes);
  }
  Check(list->Close(), "Close");
  ID3D12CommandList* const lists[] = {list.get()};
  queue->ExecuteCommandLists(1, lists);

  uint32_t now = 0;
  while ((now = counted->load(std::memory_order_acquire)) < seen) {
  }
  char line[32];
  const int size = std::snprintf(line, sizeof(line), "seen %u\n", now);
  if (write(STDOUT_FILENO, line, static_cast<size_t>(size)) != size) std::exit(74);
  raise(SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kill_d3d12 COPIES SEEN\n");
    return 2;
  }
  const auto copies = static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto seen = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
  if (seen > copies) return 2;
  Run(copies, seen);
  return 0;
}
