// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a serialized root signature: implementations index arrays by the parameters
// that calls of a list name, and read as many descriptors of a table as it has. No graphics API.
#ifndef CAIRN_READER_REPLAY_ROOT_SIGNATURE_H_
#define CAIRN_READER_REPLAY_ROOT_SIGNATURE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace cairn {

struct RootParameter {
  // D3D12_ROOT_PARAMETER_TYPE.
  enum class Kind : uint8_t { kTable, kConstants, kConstantBuffer, kShaderResource, kUnordered };
  Kind kind = Kind::kTable;
  uint32_t constants = 0;    // kConstants: 32-bit values
  uint64_t descriptors = 0;  // kTable: from its start to the end of the range that reaches farthest
  bool samplers = false;     // kTable
};

// "a descriptor table", ...
const char* NameOf(RootParameter::Kind kind);

struct RootSignatureLayout {
  std::vector<RootParameter> parameters;
};

// `blob`: a container with a part "RTS0", or a library of shaders that declares one global root signature (part
// "RDAT"), as CreateRootSignature takes them. A range without an
// end counts as one descriptor: who takes it finds the end of the heap itself, behind its start. Errors: kCorrupt: it
// contradicts itself; kUnsupported: a version that is not known.
Result<RootSignatureLayout> ParseRootSignature(std::span<const std::byte> blob);

// Checks that the root signature has a parameter of that kind. kCorrupt: it has none, or another one.
Status CheckParameter(const RootSignatureLayout& layout, uint64_t index, RootParameter::Kind kind);
// Checks that a parameter of constants has so many from `first` on. kCorrupt: it has not.
Status CheckConstants(const RootParameter& parameter, uint64_t first, uint64_t count);

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_ROOT_SIGNATURE_H_
