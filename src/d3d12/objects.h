// SPDX-License-Identifier: Apache-2.0
//
// Wrappers of device children that note something about their objects. Lists and queues have files of
// their own.
#ifndef CAIRN_D3D12_OBJECTS_H_
#define CAIRN_D3D12_OBJECTS_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "cairn/breadcrumbs.h"

#include "annotations/marker_arena.h"
#include "d3d12/device_child.h"
#include "d3d12gen/thin.h"

namespace cairn {

class Context;

inline namespace CAIRN_D3D12_NAMESPACE {

// Buffers have their address and size in the object table; heaps their size.
class WrappedID3D12Resource final : public AnnotatedObject<ThinID3D12Resource> {
 public:
  WrappedID3D12Resource(WrappedID3D12Device& device, void* real);
};

class WrappedID3D12Heap final : public AnnotatedObject<ThinID3D12Heap> {
 public:
  WrappedID3D12Heap(WrappedID3D12Device& device, void* real);
};

// Keeps the markers of the lists that record with it, until it is reset.
class WrappedID3D12CommandAllocator final : public AnnotatedObject<ThinID3D12CommandAllocator> {
 public:
  WrappedID3D12CommandAllocator(WrappedID3D12Device& device, void* real);

  HRESULT STDMETHODCALLTYPE Reset() override;

  const std::shared_ptr<MarkerArena>& arena() const { return arena_; }

 private:
  std::shared_ptr<MarkerArena> arena_;
};

// The values that it was told to signal, that somebody waits for, and that were seen completed, go into
// the object table.
class WrappedID3D12Fence final : public AnnotatedObject<ThinID3D12Fence> {
 public:
  WrappedID3D12Fence(WrappedID3D12Device& device, void* real);

  UINT64 STDMETHODCALLTYPE GetCompletedValue() override;
  HRESULT STDMETHODCALLTYPE SetEventOnCompletion(UINT64 value, HANDLE event) override;
  HRESULT STDMETHODCALLTYPE Signal(UINT64 value) override;
};

// Its descriptors mean nothing once it is gone.
class WrappedID3D12DescriptorHeap final : public AnnotatedObject<ThinID3D12DescriptorHeap> {
 public:
  WrappedID3D12DescriptorHeap(WrappedID3D12Device& device, void* real);

 protected:
  void OnEnd() override;
};

// The pipeline in the block's table: registered with its name when a list first uses it, and again
// after it got another name. Any thread.
class PipelineNumber {
 public:
  // 0 if there is no room for it.
  CairnPipeline Use(Context& context, const Wrapper& pipeline);
  // The name changed.
  void Forget() { known_.store(0, std::memory_order_release); }
  // The pipeline is gone.
  void Unregister(Context* context);

 private:
  std::atomic<CairnPipeline> known_{0};
  std::mutex mutex_;
};

class WrappedID3D12PipelineState final : public AnnotatedObject<ThinID3D12PipelineState> {
 public:
  WrappedID3D12PipelineState(WrappedID3D12Device& device, void* real);

  PipelineNumber& number() { return number_; }

 protected:
  void OnNamed(std::string_view) override { number_.Forget(); }
  void OnEnd() override { number_.Unregister(device()->context()); }

 private:
  PipelineNumber number_;
};

class WrappedID3D12StateObject final : public AnnotatedObject<ThinID3D12StateObject> {
 public:
  WrappedID3D12StateObject(WrappedID3D12Device& device, void* real);

  PipelineNumber& number() { return number_; }

 protected:
  void OnNamed(std::string_view) override { number_.Forget(); }
  void OnEnd() override { number_.Unregister(device()->context()); }

 private:
  PipelineNumber number_;
};

// What lists ask. Null for null and for allocators that are not ours.
std::shared_ptr<MarkerArena> ArenaOf(ID3D12CommandAllocator* allocator);
// `pipeline`: a pipeline state or a state object; 0 for any other object.
CairnPipeline UsePipeline(Context& context, Wrapper& pipeline);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12_OBJECTS_H_
