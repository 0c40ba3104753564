// SPDX-License-Identifier: Apache-2.0
//
// What a Direct3D 12 program can observe, as lines "section: what = value". The program observe runs
// every section and prints the lines; invisible_test compares them with and without the layer.
// Values never hold addresses or times: two runs without the layer print the same.
#ifndef CAIRN_TESTS_INVISIBLE_OBSERVER_H_
#define CAIRN_TESTS_INVISIBLE_OBSERVER_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/com_ptr.h"

namespace observe {

using cairn::ComPtr;

class Observer {
 public:
  void Section(const std::string& name) { section_ = name; }
  void Note(const std::string& what, uint64_t value) {
    std::printf("%s: %s = %llu\n", section_.c_str(), what.c_str(),
                static_cast<unsigned long long>(value));
    std::fflush(stdout);
  }
  void NoteResult(const std::string& what, HRESULT result) {
    std::printf("%s: %s = 0x%08x\n", section_.c_str(), what.c_str(), static_cast<unsigned>(result));
    std::fflush(stdout);
  }
  void NoteBool(const std::string& what, bool value) { Note(what, value ? 1 : 0); }
  const std::string& section() const { return section_; }

 private:
  std::string section_;
};

// The count that a program sees.
inline uint32_t CountOf(IUnknown* object) {
  object->AddRef();
  return object->Release();
}

// FNV-1a, so that a picture is one line.
inline uint64_t HashBytes(const void* data, size_t size_bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < size_bytes; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

// One device and what most sections need of it.
class Scene {
 public:
  Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene();

  ComPtr<ID3D12Resource> Buffer(D3D12_HEAP_TYPE heap, uint64_t size_bytes,
                                D3D12_RESOURCE_STATES state,
                                D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_NONE);
  ComPtr<ID3D12Resource> Target(uint32_t width, uint32_t height);
  // Closes, executes, waits and opens the list again with a fresh allocator.
  void Run();
  void Wait();
  void Transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES before,
                  D3D12_RESOURCE_STATES after);
  // The bytes of a buffer in state COPY_SOURCE; runs the list.
  uint64_t HashBuffer(ID3D12Resource* buffer, uint64_t size_bytes);
  // The pixels of a render target in state RENDER_TARGET; runs the list.
  uint64_t HashTarget(ID3D12Resource* target, uint32_t width, uint32_t height);

  ComPtr<ID3D12Device> device;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  uint64_t fence_value = 0;
};

ComPtr<ID3D12Device> CreateDevice();

// Each notes everything it sees.
void ObserveDevice(Observer& out);
void ObserveChildren(Observer& out);
void ObservePrivateData(Observer& out);
void ObserveArguments(Observer& out);
void ObserveLists(Observer& out);
void ObserveWork(Observer& out);
void ObserveDraws(Observer& out);
void ObserveQueues(Observer& out);
void ObserveThreads(Observer& out);
void ObserveVkd3d(Observer& out);

}  // namespace observe

#endif  // CAIRN_TESTS_INVISIBLE_OBSERVER_H_
