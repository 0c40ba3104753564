// SPDX-License-Identifier: Apache-2.0
//
// The acceleration structures of a device, for a recording that begins late: how each was built, with
// copies of the inputs that are taken right behind the builds. A program may overwrite and release
// inputs after a build, and the bytes of a structure mean nothing to another device.
//
// Threads: any. The lock is held over calls that record and submit copies; nothing waits for the GPU.
#ifndef CAIRN_APP_D3D12_CAPTURE_STRUCTURE_CAPTURE_H_
#define CAIRN_APP_D3D12_CAPTURE_STRUCTURE_CAPTURE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/capture/capture.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Builds and copies of structures in a list, in order.
class ListStructures {
 public:
  struct Step {
    StructureStep step = StructureStep::kBuild;
    D3D12_GPU_VIRTUAL_ADDRESS to = 0;
    D3D12_GPU_VIRTUAL_ADDRESS from = 0;
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs = {};  // pointers are not valid
    std::vector<D3D12_RAYTRACING_GEOMETRY_DESC> geometries;
    std::string lost;  // why this step cannot be repeated; usually empty
  };

  void Reset() { steps_.clear(); }
  // The program's arguments. Errors: std::bad_alloc.
  void Build(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC& desc);
  void Copy(D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
            D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode);
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

class StructureCapture {
 public:
  // The copies of inputs take at most `most_bytes`.
  explicit StructureCapture(ID3D12Device* real, uint64_t most_bytes = uint64_t{4} << 30)
      : real_(real), most_bytes_(most_bytes) {}
  StructureCapture(const StructureCapture&) = delete;
  StructureCapture& operator=(const StructureCapture&) = delete;

  // Returns true while a recording is yet to begin: afterwards, builds are in the trace themselves.
  static bool IsWanted() {
    const Capture* const capture = Capture::Active();
    return capture != nullptr && !capture->memory_on();
  }

  void AddBuffer(uint64_t number, ID3D12Resource* real, uint64_t size_bytes);
  void RemoveBuffer(uint64_t number);

  // The lists were submitted to `queue`, whose lock is held. Submits copies of the inputs there. Buffers that the
  // program changes after a build in the same submission are copied as they are at its end.
  void Executed(std::span<const ListStructures* const> lists, ID3D12CommandQueue* queue);

  // Writes the steps to all structures, bottom levels first, and forgets them. The GPU is idle. A note names each
  // structure that cannot be restored.
  void Write(Capture& capture);

 private:
  struct Buffer {
    ID3D12Resource* real = nullptr;
    uint64_t address = 0;
    uint64_t size_bytes = 0;
  };
  struct Place {
    uint64_t buffer = 0;
    uint64_t offset_bytes = 0;
    auto operator<=>(const Place&) const = default;
  };
  // Copied inputs of a step, which the CPU can read.
  struct Inputs {
    explicit Inputs(uint64_t* kept) : kept_bytes(kept) {}
    ~Inputs() { *kept_bytes -= size_bytes; }
    Inputs(const Inputs&) = delete;
    Inputs& operator=(const Inputs&) = delete;

    uint64_t* const kept_bytes;
    ComPtr<ID3D12Resource> buffer;
    uint64_t size_bytes = 0;
    bool copied = false;  // by the GPU
  };
  struct Step {
    StructureStep step = StructureStep::kBuild;
    uint32_t type = 0;
    uint32_t flags = 0;
    uint32_t count = 0;
    std::vector<StructureGeometry> geometries;
    std::shared_ptr<Inputs> inputs;  // null for copies
  };
  struct Structure {
    uint64_t sequence = 0;    // of the last step
    uint64_t size_bytes = 0;  // that it may take; 0: not known, as after a compaction
    std::vector<Step> steps;
    std::string lost;
  };
  // A list of copies that the GPU may still execute.
  struct Copies {
    D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT;
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
    ComPtr<ID3D12Fence> fence;
    uint64_t value = 0;  // that the fence gets when the list has ended
    std::vector<std::shared_ptr<Inputs>> inputs;
  };
  class InputLayout;

  // mutex_ is held in these.
  const Buffer* FindBuffer(D3D12_GPU_VIRTUAL_ADDRESS address, uint64_t* number) const;
  bool PlaceOf(D3D12_GPU_VIRTUAL_ADDRESS address, Place* place) const;
  void Follow(const ListStructures::Step& step, ID3D12CommandQueue* queue, Copies** copies);
  Structure SourceOf(const ListStructures::Step& step) const;
  uint64_t SizeOf(const ListStructures::Step& step) const;
  // Forgets the structures that one of `size_bytes` at `place` overwrites.
  void Overwrite(const Place& place, uint64_t size_bytes);
  Status AddStep(const ListStructures::Step& step, ID3D12CommandQueue* queue, Copies** copies,
                 Structure* structure);
  Status CopyInputs(const InputLayout& layout, ID3D12CommandQueue* queue, Copies** copies,
                    std::shared_ptr<Inputs>* inputs);
  Result<Copies*> OpenCopies(ID3D12CommandQueue* queue);
  // Returns true if the GPU has executed the list.
  static bool HasEnded(Copies* copies);
  static void SubmitCopies(ID3D12CommandQueue* queue, Copies* copies);
  static Status AppendInputs(const Inputs& inputs, std::vector<std::byte>* bytes);
  static Status WriteStructure(Capture& capture, const Place& place, const Structure& structure);

  ID3D12Device* const real_;
  const uint64_t most_bytes_;
  std::mutex mutex_;
  uint64_t kept_bytes_ = 0;             // outlives structures_ and copies_
  std::map<uint64_t, Buffer> buffers_;  // by number
  std::multimap<D3D12_GPU_VIRTUAL_ADDRESS, uint64_t> addresses_;  // of their begins -> number
  std::map<Place, Structure> structures_;
  std::deque<Copies> copies_;
  uint64_t next_sequence_ = 1;
  bool out_of_memory_ = false;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_STRUCTURE_CAPTURE_H_
