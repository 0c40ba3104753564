// SPDX-License-Identifier: Apache-2.0
//
// The variables through which a module gets values of the program's: descriptors, push constants, vertex inputs.
#ifndef CAIRN_APP_SPIRV_MODULE_BINDINGS_H_
#define CAIRN_APP_SPIRV_MODULE_BINDINGS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/spirv/module.h"
#include "app/spirv/source_places.h"
#include "base/status.h"
#include "format/experiment/binding.h"

namespace cairn::spirv {

struct Binding {
  uint32_t variable = 0;  // id
  BindingPlace place;
  BindingKind kind = BindingKind::kUnknown;
  std::string name;      // of the variable, else of its block; "" for none
  SourcePlace declared;  // as SourcePlaces::DeclarationOf
};

// Returns the variables that functions use, in the order of their declarations; several may have one place. Names and
// declarations are left out. `module` is valid. Cost: linear in the module.
std::vector<Binding> FindBindings(const Module& module);

// Returns the same of any words, with names and declarations; of several inputs with one location the first. Errors: as
// ReadValid; kUnsupported also for more than kMostBindings (module_bounds.h). Cost: a validation, linear in the module, and
// some thousand bytes for each of them. May throw std::bad_alloc. Threads: any.
Result<std::vector<Binding>> ListBindings(std::span<const uint32_t> words);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_MODULE_BINDINGS_H_
