// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/valid_module.h"

#include <fmt/format.h>

#include <utility>

#include "app/spirv/module_bounds.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

Status CheckAddressing(const Module& module) {
  for (const Instruction& global : module.globals) {
    if (global.opcode != spv::OpMemoryModel) continue;
    const uint32_t model = global.operands()[0];
    if (model == spv::AddressingModelLogical ||
        model == spv::AddressingModelPhysicalStorageBuffer64)
      return {};
    return Status(StatusCode::kUnsupported, fmt::format("its addressing model is {}", model));
  }
  return Status(StatusCode::kUnsupported, "it has no addressing model");
}

}  // namespace

Result<ValidModule> ReadValid(std::span<const uint32_t> words) {
  CAIRN_RETURN_IF_ERROR(CheckSize(words));
  Result<Module> module = Module::Read(words);
  if (!module.ok()) return module.status();
  std::vector<ControlFlow> flows(module->functions.begin(), module->functions.end());
  CAIRN_RETURN_IF_ERROR(CheckShape(*module, flows));
  if (Status valid = Validate(words); !valid.ok()) {
    return Status(StatusCode::kUnsupported, "the module is not valid: " + valid.message());
  }
  CAIRN_RETURN_IF_ERROR(CheckAddressing(*module));
  return ValidModule{std::move(*module), std::move(flows)};
}

}  // namespace cairn::spirv
