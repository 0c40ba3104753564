// SPDX-License-Identifier: Apache-2.0
//
// The state of one device of Direct3D 11 and of its children. It lives as long as the device: the
// device holds it as private data.
#ifndef CAIRN_APP_D3D11_DEVICE_H_
#define CAIRN_APP_D3D11_DEVICE_H_

#include <d3d11_4.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "app/d3d12/adapter_memory.h"
#include "app/recorder/block_writer.h"

namespace cairn {

class CommandList;
class Context;
class D3D11Context;

// The index of the first method in the block's table of functions.
extern std::atomic<uint32_t> first_d3d11_method;

// The facts of a created object that its creating method knows.
struct CreatedFacts {
  const void* code = nullptr;  // of a shader: DXBC
  size_t code_bytes = 0;
  uint64_t size_bytes = 0;   // of a buffer
  uint64_t description = 0;  // of a buffer or a texture: format/block/object_description.h
};

// Stages from kStageVertex to kStageCompute; the others stay empty.
using BoundShaders = std::array<ID3D11DeviceChild*, kStageCount>;

// Threads: any. Cost: Find takes a lock that is mostly free.
class D3D11Device {
 public:
  // Null where nothing can be recorded: one message said why. May throw std::bad_alloc.
  static std::unique_ptr<D3D11Device> Make(ID3D11Device* real, bool labelled);
  ~D3D11Device();
  D3D11Device(const D3D11Device&) = delete;
  D3D11Device& operator=(const D3D11Device&) = delete;

  // Finds a device by any of its interfaces; null for an unknown device.
  static D3D11Device* Find(const void* self);

  ID3D11Device* real() const { return real_; }
  Context& context() const { return *context_; }
  BlockWriter& block() const { return block_; }
  D3D11Context* immediate() const { return immediate_.get(); }
  // Returns true if the Vulkan layer below records the work by labels, and has words for it;
  // otherwise lists of ours hold it.
  bool labelled() const { return labelled_; }
  // Returns the implementation's lock, which must be held while notes are made; null unless several
  // threads use the immediate context.
  ID3D11Multithread* protection() const {
    return protected_.load(std::memory_order_relaxed) ? multithread_ : nullptr;
  }
  void SetProtected(bool on) { protected_.store(on, std::memory_order_relaxed); }
  // Finds a device by the interface that SetMultithreadProtected is called on.
  static D3D11Device* FindByMultithread(const void* self);

  void NoteChild(D3D11Kind kind, ID3D11DeviceChild* child, const CreatedFacts& facts);
  // A deferred context was created.
  void NoteDeferred(ID3D11DeviceContext* context);
  // FinishCommandList has made `list`, null if it failed, of what `recording` holds, which may be null.
  void NoteFinished(ID3D11CommandList* list, CommandList* recording);
  // A method has returned `result`, which may say that the device is lost or has no memory. `function` stays.
  void NoteFailure(HRESULT result, const char* function);

  // The pipeline that these shaders are, 0 for none. Takes a lock.
  CairnPipeline PipelineOf(const BoundShaders& shaders);
  // A shader is gone, of whichever device: its address may be another one's.
  static void ForgetShader(const void* shader);

  void EndFrame();

  // References on the device that are ours, which the program is not to see. Any thread.
  void AddHidden(int references) { hidden_.fetch_add(references, std::memory_order_relaxed); }
  ULONG hidden() const { return static_cast<ULONG>(hidden_.load(std::memory_order_relaxed)); }
  // All, as the device counts them.
  ULONG CountReferences() const;
  // A Release of the device has left so many: those that the program sees. The device may end with that.
  ULONG AfterRelease(ULONG left);

 private:
  D3D11Device(ID3D11Device* real, BlockWriter& block, Context* context, bool labelled);
  // Replaces the tables of methods, and registers the objects that the device has from the
  // beginning. Call it once the device is made.
  void Join();
  void FindMultithread();
  // The heaps of the adapter; none where the Vulkan layer below tells those of its device.
  AdapterMemory MemoryNow() const;
  void EraseShader(const void* shader);

  ID3D11Device* const real_;
  BlockWriter& block_;
  Context* const context_;
  const bool labelled_;
  std::array<uint32_t, 2> own_objects_ = {ObjectTable::kNone,
                                          ObjectTable::kNone};  // its context's, too
  std::vector<const void*> interfaces_;                         // by which it is found
  ID3D11Multithread* multithread_ = nullptr;  // a part of the device: no reference
  std::atomic<bool> protected_{false};
  std::atomic<bool> lost_{false};
  std::atomic<int> hidden_{0};
  std::unique_ptr<D3D11Context> immediate_;
  std::mutex pipelines_mutex_;
  std::map<BoundShaders, CairnPipeline> pipelines_;
};

// An object has got private data, which may be its name: WKPDID_D3DDebugObjectName, or ...NameW.
void NotePrivateData(const void* object, REFGUID guid, const void* data, UINT size_bytes);

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_DEVICE_H_
