// SPDX-License-Identifier: Apache-2.0
//
// Telling: what a sample says about its work, in one of two ways.
//   d3d12_telling_cairn.cc   by the calls of cairn/breadcrumbs.h, which the samples show
//   d3d12_telling_plain.cc   as any Direct3D 12 program does, by SetName and PIX events; under
//                            `cairn run` the layer does the rest: sample-NAME-d3d12-plain
#ifndef CAIRN_SAMPLES_D3D12_TELLING_H_
#define CAIRN_SAMPLES_D3D12_TELLING_H_

#include <cstdint>
#include <memory>

#include "cairn/breadcrumbs.h"

#include "command_line.h"
#include "d3d12abi/d3d12_api.h"

namespace sample {

struct Options {
  CairnMode mode = CAIRN_MODE_FULL;
  uint32_t raw_marker_count = 0;  // not on the command line
};
// --mode top|pass|full, where the sample decides; under the layer, `cairn run --breadcrumbs` does.
void AddOptions(CommandLine& line, Options* options);

// Of one device. Names are literals. What fails ends the program (Fail in d3d12_device.h).
class Telling {
 public:
  using Pipeline = CairnPipeline;
  using Recording = CairnCommandList*;

  // Never null.
  static std::unique_ptr<Telling> Start(ID3D12Device* device, const Options& options);
  ~Telling();  // After the GPU has finished with everything.
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

  void BeginFrame() const;
  // A frame has been submitted to `queue`, and the next one begins: programs that present nothing say
  // so, for traces have frames.
  void NextFrame(ID3D12CommandQueue* queue) const;
  void DeviceLost(HRESULT code, const char* where) const;

  struct ShaderNames {
    const char* vertex = nullptr;
    const char* pixel = nullptr;
    const char* compute = nullptr;
  };
  Pipeline Name(ID3D12PipelineState* state, const char* name, const ShaderNames& shaders) const;
  void Name(ID3D12CommandQueue* queue, CairnQueueType type, const char* name) const;

  // After Reset and before Close of a list; before ExecuteCommandLists of several.
  Recording BeginList(ID3D12GraphicsCommandList* list, ID3D12CommandQueue* queue,
                      CairnQueueType type, const char* name) const;
  void EndList(Recording recording) const;
  void Submit(ID3D12CommandQueue* queue, const Recording* recordings, uint32_t count) const;

  // Around work; `name` may be null. False if there was nothing to say: then there is no end.
  bool Begin(Recording recording, ID3D12GraphicsCommandList* list, CairnMarkerType type,
             const char* name) const;
  void End(Recording recording, ID3D12GraphicsCommandList* list) const;
  void UsePipeline(Recording recording, Pipeline pipeline) const;

  // Has the GPU write `value` into a raw marker where it reaches this point of the list.
  void WriteMarker(ID3D12GraphicsCommandList* list, uint32_t slot, uint64_t value) const;
  // True once it has, and what it wrote before has come to the watcher. To be asked while later work
  // is seen to run.
  bool MarkerArrived(uint32_t slot, uint64_t value) const;

 private:
  explicit Telling(CairnContext* context) : context_(context) {}

  CairnContext* context_;  // null without libcairn
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_D3D12_TELLING_H_
