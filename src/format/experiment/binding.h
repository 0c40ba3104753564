// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_FORMAT_EXPERIMENT_BINDING_H_
#define CAIRN_FORMAT_EXPERIMENT_BINDING_H_

#include <compare>
#include <cstdint>
#include <string_view>

namespace cairn {

// Where a shader gets values of the program's from.
struct BindingPlace {
  enum class From : uint8_t { kNone, kDescriptor, kPushConstants, kVertexInput };
  From from = From::kNone;
  uint32_t set = 0;     // kDescriptor
  uint32_t number = 0;  // the binding; of kVertexInput the location

  auto operator<=>(const BindingPlace&) const = default;
};

// Values of these kinds mostly decide what a shader does; those that come later mostly are what it works on.
enum class BindingKind : uint8_t {
  kUniformBuffer,
  kPushConstants,
  kStorageBuffer,
  kVertexInput,
  kUniformTexelBuffer,
  kStorageTexelBuffer,
  kStorageImage,
  kSampledImage,
  kCombinedImageSampler,
  kInputAttachment,
  kSampler,
  kAccelerationStructure,
  kUnknown,
};

// "uniform buffer"; "descriptor" for kUnknown.
std::string_view WordsOf(BindingKind kind);

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_BINDING_H_
