// SPDX-License-Identifier: Apache-2.0
//
// Without libcairn: names and PIX events, as programs have them anyway.
#include <chrono>
#include <thread>

#include "cairn/pix.h"

#include "d3d12_device.h"
#include "d3d12_telling.h"

namespace sample {

void AddOptions(CommandLine&, Options*) {}

std::unique_ptr<Telling> Telling::Start(ID3D12Device*, const Options&) {
  return std::unique_ptr<Telling>(new Telling(nullptr));
}

Telling::~Telling() = default;

// The layer learns of frames from presentation.
void Telling::BeginFrame() const {}

void Telling::NextFrame(ID3D12CommandQueue* queue) const {
  constexpr char kFrame[] = "cairn:frame";
  constexpr UINT kText = 1;  // PIX_EVENT_ANSI_VERSION
  queue->SetMarker(kText, kFrame, sizeof(kFrame));
}

void Telling::DeviceLost(HRESULT, const char*) const {}

Telling::Pipeline Telling::Name(ID3D12PipelineState* state, const char* name,
                                const ShaderNames&) const {
  SetName(state, name);
  return 0;
}

void Telling::Name(ID3D12CommandQueue* queue, CairnQueueType, const char* name) const {
  SetName(queue, name);
}

Telling::Recording Telling::BeginList(ID3D12GraphicsCommandList* list, ID3D12CommandQueue*,
                                      CairnQueueType, const char* name) const {
  SetName(list, name);
  return nullptr;
}

void Telling::EndList(Recording) const {}

void Telling::Submit(ID3D12CommandQueue*, const Recording*, uint32_t) const {}

bool Telling::Begin(Recording, ID3D12GraphicsCommandList* list, CairnMarkerType,
                    const char* name) const {
  if (name == nullptr) return false;
  PIXBeginEvent(list, PIX_COLOR_DEFAULT, name);
  return true;
}

void Telling::End(Recording, ID3D12GraphicsCommandList* list) const {
  PIXEndEvent(list);
}

void Telling::UsePipeline(Recording, Pipeline) const {}

void Telling::WriteMarker(ID3D12GraphicsCommandList*, uint32_t, uint64_t) const {}

// Breadcrumbs are copied to the watcher every 500 us where the GPU cannot write its memory. Nobody in
// this program can see that happen, so that it waits for longer.
bool Telling::MarkerArrived(uint32_t, uint64_t) const {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return true;
}

}  // namespace sample
