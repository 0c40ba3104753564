// SPDX-License-Identifier: Apache-2.0
//
// By the calls of libcairn.
#include <fmt/format.h>

#include <string>

#include "cairn/markers.h"

#include "d3d12_device.h"
#include "d3d12_telling.h"

namespace sample {

namespace {

void Check(CairnResult result, const char* what) {
  if (result != CAIRN_OK) {
    Fail(fmt::format("{}: {}: {}", what, cairnResultString(result), cairnGetLastErrorMessage()));
  }
}

}  // namespace

void AddOptions(CommandLine& line, Options* options) {
  line.Mode(&options->mode);
}

std::unique_ptr<Telling> Telling::Start(ID3D12Device* device, const Options& options) {
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.mode = options.mode;
  desc.raw_marker_count = options.raw_marker_count;
  CairnD3D12Desc d3d12 = {};
  d3d12.struct_size = sizeof(d3d12);
  d3d12.device = device;
  CairnContext* context = nullptr;
  Check(cairnCreateContextD3D12(&desc, &d3d12, &context), "cairnCreateContextD3D12");
  return std::unique_ptr<Telling>(new Telling(context));
}

Telling::~Telling() {
  cairnDestroyContext(context_);
}

void Telling::BeginFrame() const {
  Check(cairnBeginFrame(context_), "cairnBeginFrame");
}

void Telling::NextFrame(ID3D12CommandQueue*) const {
  BeginFrame();
}

void Telling::DeviceLost(HRESULT code, const char* where) const {
  cairnReportDeviceLost(context_, code, where);
}

Telling::Pipeline Telling::Name(ID3D12PipelineState* state, const char* name,
                                const ShaderNames& shaders) const {
  CairnPipelineDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.native = state;
  desc.name = name;
  desc.vertex_shader = shaders.vertex;
  desc.pixel_shader = shaders.pixel;
  desc.compute_shader = shaders.compute;
  CairnPipeline pipeline = 0;
  Check(cairnRegisterPipeline(context_, &desc, &pipeline), "cairnRegisterPipeline");
  return pipeline;
}

void Telling::Name(ID3D12CommandQueue* queue, CairnQueueType type, const char* name) const {
  Check(cairnRegisterQueue(context_, queue, type, name), "cairnRegisterQueue");
}

Telling::Recording Telling::BeginList(ID3D12GraphicsCommandList* list, ID3D12CommandQueue* queue,
                                      CairnQueueType type, const char* name) const {
  CairnCommandListDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.native = list;
  desc.queue = queue;
  desc.queue_type = type;
  desc.name = name;
  Recording recording = nullptr;
  Check(cairnBeginCommandList(context_, &desc, &recording), "cairnBeginCommandList");
  return recording;
}

void Telling::EndList(Recording recording) const {
  Check(cairnEndCommandList(recording), "cairnEndCommandList");
}

void Telling::Submit(ID3D12CommandQueue* queue, const Recording* recordings, uint32_t count) const {
  Check(cairnNotifySubmit(context_, queue, recordings, count), "cairnNotifySubmit");
}

bool Telling::Begin(Recording recording, ID3D12GraphicsCommandList*, CairnMarkerType type,
                    const char* name) const {
  Check(cairnBeginMarker(recording, type, name, CAIRN_NAME_STATIC), "cairnBeginMarker");
  return true;
}

void Telling::End(Recording recording, ID3D12GraphicsCommandList*) const {
  Check(cairnEndMarker(recording), "cairnEndMarker");
}

void Telling::UsePipeline(Recording recording, Pipeline pipeline) const {
  Check(cairnSetPipeline(recording, pipeline), "cairnSetPipeline");
}

void Telling::WriteMarker(ID3D12GraphicsCommandList* list, uint32_t slot, uint64_t value) const {
  Check(cairnWriteMarker(context_, list, CAIRN_TOP_OF_PIPE, slot, value), "cairnWriteMarker");
}

bool Telling::MarkerArrived(uint32_t slot, uint64_t value) const {
  const volatile uint64_t* slots = nullptr;
  uint32_t count = 0;
  Check(cairnGetMarkers(context_, &slots, &count), "cairnGetMarkers");
  cairnRefresh(context_);
  if (slots[slot] != value) return false;
  // Once more: the breadcrumb was copied before the marker, and may have been missed.
  cairnRefresh(context_);
  return true;
}

}  // namespace sample
