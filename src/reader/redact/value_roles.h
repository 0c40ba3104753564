// SPDX-License-Identifier: Apache-2.0
//
// The texts and bytes of a call that redaction replaces, by the tables of the API model. Texts that are arguments are
// replaced unless a line here keeps them, so that a method that is added later tells no name. Texts in structs, and
// bytes, are kept unless a line here replaces them.
#ifndef CAIRN_READER_REDACT_VALUE_ROLES_H_
#define CAIRN_READER_REDACT_VALUE_ROLES_H_

#include <string_view>

#include "d3d12gen/methods.h"
#include "d3d12gen/roles.h"
#include "format/calls/encoded_values.h"

namespace cairn {

enum class ValueRole {
  kKept,
  kName,      // a text that the program chose
  kCode,      // shaders, or text that has to be the same as in shaders
  kContents,  // of a resource
  kCache,     // bytes of a driver's or the program's cache; a replay does not use them
  kAnswer,    // bytes that the program got
};

// Texts of arguments name a part of a shader if they stand in a struct, as semantics and exports do.
inline ValueRole RoleOfText(const MethodInfo& method, const EncodedValue& text, CallBody body) {
  if (body == CallBody::kResults) return ValueRole::kName;
  for (const ParameterInfo& parameter : method.parameters) {
    if (text.value != &parameter) continue;
    for (const std::string_view part : {"pExportName", "pProgramName", "pShaderName",
                                        "subobjectName", "RootSignatureSubobjectName"}) {
      if (part == parameter.name) return ValueRole::kCode;
    }
    return ValueRole::kName;
  }
  return ValueRole::kCode;
}

inline ValueRole RoleOfBytes(Method method, const ValueInfo& value, CallBody body) {
  const CallRole& call = RoleOf(method);
  // A replay compares the answers about features.
  if (call.replay == Replay::kCompare) return ValueRole::kKept;
  if (body == CallBody::kResults) return ValueRole::kAnswer;
  const std::string_view name = value.name;
  if (call.role == Role::kHint || call.replay == Replay::kEmpty || name == "pCachedBlob") {
    return ValueRole::kCache;
  }
  for (const std::string_view code : {"pShaderBytecode", "pCubin", "pBlobWithRootSignature",
                                      "pLibraryBlob", "pSerializedBlob", "pBlob"}) {
    if (name == code) return ValueRole::kCode;
  }
  const bool is_contents = call.role == Role::kWriteMemory || name == "pRecords";
  return is_contents ? ValueRole::kContents : ValueRole::kKept;
}

}  // namespace cairn

#endif  // CAIRN_READER_REDACT_VALUE_ROLES_H_
