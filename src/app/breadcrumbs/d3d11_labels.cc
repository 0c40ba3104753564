// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d11_labels.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "app/breadcrumbs/raw_marker_text.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr char kDebugVariable[] = "DXVK_DEBUG";
constexpr char kLabels[] = "markers";

// The view is of half of it: DXVK moves a clear to the front of the command buffer if nothing there has used the buffer yet, or
// if it may throw away all that the buffer had.
Result<ComPtr<ID3D11UnorderedAccessView>> MakeClearedBuffer(ID3D11Device& device) {
  const D3D11_BUFFER_DESC desc = {
      2 * sizeof(uint32_t), D3D11_USAGE_DEFAULT, D3D11_BIND_UNORDERED_ACCESS, 0, 0, 0};
  ComPtr<ID3D11Buffer> buffer;
  CAIRN_RETURN_IF_ERROR(StatusOf(
      "CreateBuffer",
      device.CreateBuffer(&desc, nullptr, reinterpret_cast<ID3D11Buffer**>(buffer.Receive()))));
  D3D11_UNORDERED_ACCESS_VIEW_DESC view = {};
  view.Format = DXGI_FORMAT_R8G8B8A8_UINT;
  view.ViewDimension = D3D11_UAV_DIMENSION_BUFFER;
  view.Buffer.NumElements = 1;
  ComPtr<ID3D11UnorderedAccessView> cleared;
  CAIRN_RETURN_IF_ERROR(StatusOf(
      "CreateUnorderedAccessView",
      device.CreateUnorderedAccessView(
          buffer.get(), &view, reinterpret_cast<ID3D11UnorderedAccessView**>(cleared.Receive()))));
  return cleared;
}

}  // namespace

void AskDxvkForLabels() {
  const char* const set = OwnVariable(kDebugVariable);
  const std::string words = set == nullptr ? "" : set;
  if (words.find(kLabels) != std::string::npos) return;
  SetVariable(kDebugVariable, words.empty() ? kLabels : words + "," + kLabels);
}

Result<D3D11Labels> D3D11Labels::Open(const D3D11Objects& objects, WriteMethod method) {
  D3D11Labels labels;
  labels.context_ = objects.context;
  labels.annotation_ = objects.context.As<ID3DUserDefinedAnnotation>();
  if (!labels.annotation_) {
    return Status(StatusCode::kUnsupported, "the context has no ID3DUserDefinedAnnotation");
  }
  if (method == WriteMethod::kVulkanBufferMarker) return labels;
  Result<ComPtr<ID3D11UnorderedAccessView>> cleared = MakeClearedBuffer(*objects.device.get());
  if (!cleared.ok()) return cleared.status();
  labels.cleared_ = std::move(*cleared);
  return labels;
}

void D3D11Labels::Write(PipeLocation where, uint32_t index, uint64_t value) {
  if (cleared_) {
    constexpr UINT kZero[4] = {};
    // The first may be moved to the front; the second stands here, then, and ends the pass.
    context_->ClearUnorderedAccessViewUint(cleared_.get(), kZero);
    context_->ClearUnorderedAccessViewUint(cleared_.get(), kZero);
  }
  const std::array<char, kRawMarkerTextBytes> text = RawMarkerText({where, index, value});
  std::array<WCHAR, kRawMarkerTextBytes> wide{};
  std::copy(text.begin(), text.end(), wide.begin());
  annotation_->SetMarker(wide.data());
}

}  // namespace cairn
