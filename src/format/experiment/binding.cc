// SPDX-License-Identifier: Apache-2.0
#include "format/experiment/binding.h"

namespace cairn {

std::string_view WordsOf(BindingKind kind) {
  switch (kind) {
    case BindingKind::kUniformBuffer: return "uniform buffer";
    case BindingKind::kPushConstants: return "push constants";
    case BindingKind::kStorageBuffer: return "storage buffer";
    case BindingKind::kVertexInput: return "vertex input";
    case BindingKind::kUniformTexelBuffer: return "uniform texel buffer";
    case BindingKind::kStorageTexelBuffer: return "storage texel buffer";
    case BindingKind::kStorageImage: return "storage image";
    case BindingKind::kSampledImage: return "sampled image";
    case BindingKind::kCombinedImageSampler: return "combined image sampler";
    case BindingKind::kInputAttachment: return "input attachment";
    case BindingKind::kSampler: return "sampler";
    case BindingKind::kAccelerationStructure: return "acceleration structure";
    case BindingKind::kUnknown: break;
  }
  return "descriptor";
}

}  // namespace cairn
