// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/validator.h"

#include <spirv-tools/libspirv.h>

#include <memory>
#include <string>

#include "base/text.h"

namespace cairn::spirv {
namespace {

spv_target_env EnvironmentOf(std::span<const uint32_t> words) {
  const uint32_t version = words.size() > 1 ? words[1] : 0;
  if (version >= 0x00010600) return SPV_ENV_VULKAN_1_3;
  if (version >= 0x00010500) return SPV_ENV_VULKAN_1_2;
  if (version >= 0x00010400) return SPV_ENV_VULKAN_1_1_SPIRV_1_4;
  return SPV_ENV_VULKAN_1_1;
}

}  // namespace

Status Validate(std::span<const uint32_t> words) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(EnvironmentOf(words)), &spvContextDestroy);
  const std::unique_ptr<spv_validator_options_t, decltype(&spvValidatorOptionsDestroy)> options(
      spvValidatorOptionsCreate(), &spvValidatorOptionsDestroy);
  if (context == nullptr || options == nullptr) {
    return Status(StatusCode::kOutOfMemory, "SPIRV-Tools gives no context");
  }
  // What features of a device may allow.
  spvValidatorOptionsSetScalarBlockLayout(options.get(), true);
  spvValidatorOptionsSetWorkgroupScalarBlockLayout(options.get(), true);
  spv_const_binary_t binary{words.data(), words.size()};
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result =
      spvValidateWithOptions(context.get(), options.get(), &binary, &diagnostic);
  // It repeats the instruction, however long that is.
  constexpr size_t kMostBytes = 400;
  const std::string error(Utf8Prefix(
      diagnostic != nullptr && diagnostic->error != nullptr ? diagnostic->error : "no message",
      kMostBytes));
  spvDiagnosticDestroy(diagnostic);
  return result == SPV_SUCCESS ? Status() : Status(StatusCode::kCorrupt, error);
}

}  // namespace cairn::spirv
