// SPDX-License-Identifier: Apache-2.0
//
// A scene for tests: everything whose result writes between the application's commands could change
// (pixels, queries of all kinds, predication, stream output, indirect draws, dispatches, copies), read back as
// bytes. It knows nothing of the layer: it runs on the device that it is given, wrapped or not.
#ifndef CAIRN_APP_D3D12_TESTING_WORK_SCENE_H_
#define CAIRN_APP_D3D12_TESTING_WORK_SCENE_H_

#include <cstdint>
#include <vector>

#include "app/breadcrumbs/d3d12_buffers.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

struct SceneResult {
  std::vector<uint32_t> pixels;
  std::vector<uint64_t> occlusion;          // exact, binary, and one inside a predicated part
  std::vector<uint64_t> statistics;         // of the pipeline, in the order of the struct
  std::vector<uint64_t> stream_statistics;  // primitives written, storage needed
  std::vector<uint32_t> stream;             // stream output, then the size written
  std::vector<uint32_t> computed;           // by a dispatch, copied
  bool timestamps_in_order = false;
  bool operator==(const SceneResult&) const = default;
};

class WorkScene {
 public:
  static constexpr uint32_t kSize = 64;

  explicit WorkScene(ID3D12Device* device);
  WorkScene(const WorkScene&) = delete;
  WorkScene& operator=(const WorkScene&) = delete;

  // Records the scene into `list`, an open direct list, and leaves it open.
  void Record(ID3D12GraphicsCommandList* list);
  // Returns the results of the last execution. Call once it has finished.
  SceneResult Read() const;
  // Fills what Read() looks at with something that no scene leaves.
  void Spoil();

  ID3D12PipelineState* draw_pipeline() const { return draw_.get(); }
  ID3D12Resource* target() const { return target_.get(); }

 private:
  void CreatePipelines();
  void CreateTarget();
  void CreateQueries();
  void CreateBuffers();
  void Draw(ID3D12GraphicsCommandList* list, float x, float y);
  void BeginTarget(ID3D12GraphicsCommandList* list);
  void RecordQueries(ID3D12GraphicsCommandList* list);
  void RecordPredication(ID3D12GraphicsCommandList* list);
  void RecordStream(ID3D12GraphicsCommandList* list);
  void RecordCompute(ID3D12GraphicsCommandList* list);
  void RecordReadback(ID3D12GraphicsCommandList* list);

  const ComPtr<ID3D12Device> device_;
  ComPtr<ID3D12RootSignature> graphics_signature_;
  ComPtr<ID3D12RootSignature> compute_signature_;
  ComPtr<ID3D12PipelineState> draw_;
  ComPtr<ID3D12PipelineState> stream_;
  ComPtr<ID3D12PipelineState> fill_;
  ComPtr<ID3D12CommandSignature> draw_command_;
  ComPtr<ID3D12DescriptorHeap> views_;
  ComPtr<ID3D12Resource> target_;
  ComPtr<ID3D12QueryHeap> occlusion_;
  ComPtr<ID3D12QueryHeap> timestamps_;
  ComPtr<ID3D12QueryHeap> statistics_;
  ComPtr<ID3D12QueryHeap> stream_queries_;
  ComPtr<ID3D12Resource> stream_buffer_;
  ComPtr<ID3D12Resource> compute_buffer_;
  D3D12MappedBuffer upload_;  // predicates, indirect arguments, zeros
  ComPtr<ID3D12Resource> predicates_;
  D3D12MappedBuffer readback_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_TESTING_WORK_SCENE_H_
