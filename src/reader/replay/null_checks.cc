// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/null_checks.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "d3d12gen/supplement.h"
#include "format/calls/special_values.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

Status CheckInputLayout(const D3D12_INPUT_LAYOUT_DESC& inputs) {
  for (UINT i = 0; i < inputs.NumElements; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(inputs.pInputElementDescs, "pInputElementDescs"));
    CAIRN_RETURN_IF_ERROR(NotNull(inputs.pInputElementDescs[i].SemanticName, "SemanticName"));
  }
  return Status();
}

Status CheckStreamOutput(const D3D12_STREAM_OUTPUT_DESC& outputs) {
  if (outputs.NumEntries != 0) {
    CAIRN_RETURN_IF_ERROR(NotNull(outputs.pSODeclaration, "pSODeclaration"));
  }
  return outputs.NumStrides == 0 ? Status() : NotNull(outputs.pBufferStrides, "pBufferStrides");
}

Status CheckViews(const D3D12_VIEW_INSTANCING_DESC& views) {
  return views.ViewInstanceCount == 0
             ? Status()
             : NotNull(views.pViewInstanceLocations, "pViewInstanceLocations");
}

Status CheckSerialized(const D3D12_SERIALIZED_ROOT_SIGNATURE_DESC& signature) {
  return signature.SerializedBlobSizeInBytes == 0
             ? Status()
             : NotNull(signature.pSerializedBlob, "pSerializedBlob");
}

Status CheckNames(const LPCWSTR* names, UINT count) {
  for (UINT i = 0; i < count; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(names, "pExports"));
    CAIRN_RETURN_IF_ERROR(NotNull(names[i], "a name in pExports"));
  }
  return Status();
}

Status CheckExports(const D3D12_EXPORT_DESC* exports, UINT count) {
  for (UINT i = 0; i < count; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(exports, "pExports"));
    CAIRN_RETURN_IF_ERROR(NotNull(exports[i].Name, "Name of an export"));
  }
  return Status();
}

// ---- Work graphs ---------------------------------------------------------------------------------

Status CheckOptionalId(const D3D12_NODE_ID* id, const char* name) {
  return id == nullptr ? Status() : NotNull(id->Name, name);
}

template <typename Overrides>
Status CheckOverrides(const Overrides* overrides) {
  CAIRN_RETURN_IF_ERROR(NotNull(overrides, "the overrides of a node"));
  CAIRN_RETURN_IF_ERROR(CheckOptionalId(overrides->pNewName, "Name in pNewName"));
  CAIRN_RETURN_IF_ERROR(CheckOptionalId(overrides->pShareInputOf, "Name in pShareInputOf"));
  for (UINT i = 0; i < overrides->NumOutputOverrides; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(overrides->pOutputOverrides, "pOutputOverrides"));
    CAIRN_RETURN_IF_ERROR(
        CheckOptionalId(overrides->pOutputOverrides[i].pNewName, "Name in pNewName"));
  }
  return Status();
}

Status CheckNode(const D3D12_NODE& node) {
  if (node.NodeType != D3D12_NODE_TYPE_SHADER) {
    return Status(StatusCode::kUnsupported, fmt::format("nodes of type {} are not known",
                                                        static_cast<uint32_t>(node.NodeType)));
  }
  const D3D12_SHADER_NODE& shader = node.Shader;
  CAIRN_RETURN_IF_ERROR(NotNull(shader.Shader, "Shader of a node"));
  switch (static_cast<uint32_t>(shader.OverridesType)) {
    case D3D12_NODE_OVERRIDES_TYPE_NONE: return Status();
    case D3D12_NODE_OVERRIDES_TYPE_BROADCASTING_LAUNCH:
      return CheckOverrides(shader.pBroadcastingLaunchOverrides);
    case D3D12_NODE_OVERRIDES_TYPE_COALESCING_LAUNCH:
      return CheckOverrides(shader.pCoalescingLaunchOverrides);
    case D3D12_NODE_OVERRIDES_TYPE_THREAD_LAUNCH:
      return CheckOverrides(shader.pThreadLaunchOverrides);
    case D3D12_NODE_OVERRIDES_TYPE_COMMON_COMPUTE:
      return CheckOverrides(shader.pCommonComputeNodeOverrides);
    default:
      return Status(StatusCode::kUnsupported,
                    fmt::format("overrides of type {} are not known",
                                static_cast<uint32_t>(shader.OverridesType)));
  }
}

Status CheckWorkGraph(const D3D12_WORK_GRAPH_DESC& graph) {
  CAIRN_RETURN_IF_ERROR(NotNull(graph.ProgramName, "ProgramName"));
  for (UINT i = 0; i < graph.NumEntrypoints; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(graph.pEntrypoints, "pEntrypoints"));
    CAIRN_RETURN_IF_ERROR(NotNull(graph.pEntrypoints[i].Name, "Name of an entry point"));
  }
  for (UINT i = 0; i < graph.NumExplicitlyDefinedNodes; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(graph.pExplicitlyDefinedNodes, "pExplicitlyDefinedNodes"));
    CAIRN_RETURN_IF_ERROR(CheckNode(graph.pExplicitlyDefinedNodes[i]));
  }
  return Status();
}

Status CheckProgram(const D3D12_GENERIC_PROGRAM_DESC& program) {
  CAIRN_RETURN_IF_ERROR(NotNull(program.ProgramName, "ProgramName"));
  CAIRN_RETURN_IF_ERROR(CheckNames(program.pExports, program.NumExports));
  for (UINT i = 0; i < program.NumSubobjects; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(program.ppSubobjects, "ppSubobjects"));
    CAIRN_RETURN_IF_ERROR(NotNull(program.ppSubobjects[i], "a sub-object in ppSubobjects"));
  }
  return Status();
}

// ---- Sub-objects ---------------------------------------------------------------------------------

// `desc`: not null.
Status CheckSubobject(uint32_t type, const void* desc) {
  switch (type) {
    case D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY: {
      const auto& library = *static_cast<const D3D12_DXIL_LIBRARY_DESC*>(desc);
      CAIRN_RETURN_IF_ERROR(CheckShader(library.DXILLibrary));
      return CheckExports(library.pExports, library.NumExports);
    }
    case D3D12_STATE_SUBOBJECT_TYPE_EXISTING_COLLECTION: {
      const auto& collection = *static_cast<const D3D12_EXISTING_COLLECTION_DESC*>(desc);
      CAIRN_RETURN_IF_ERROR(NotNull(collection.pExistingCollection, "pExistingCollection"));
      return CheckExports(collection.pExports, collection.NumExports);
    }
    case D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION: {
      const auto& association = *static_cast<const D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION*>(desc);
      CAIRN_RETURN_IF_ERROR(NotNull(association.pSubobjectToAssociate, "pSubobjectToAssociate"));
      return CheckNames(association.pExports, association.NumExports);
    }
    case D3D12_STATE_SUBOBJECT_TYPE_DXIL_SUBOBJECT_TO_EXPORTS_ASSOCIATION: {
      const auto& association =
          *static_cast<const D3D12_DXIL_SUBOBJECT_TO_EXPORTS_ASSOCIATION*>(desc);
      CAIRN_RETURN_IF_ERROR(NotNull(association.SubobjectToAssociate, "SubobjectToAssociate"));
      return CheckNames(association.pExports, association.NumExports);
    }
    case D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP:
      return NotNull(static_cast<const D3D12_HIT_GROUP_DESC*>(desc)->HitGroupExport,
                     "HitGroupExport");
    case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH):
      return CheckWorkGraph(*static_cast<const D3D12_WORK_GRAPH_DESC*>(desc));
    case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM):
      return CheckProgram(*static_cast<const D3D12_GENERIC_PROGRAM_DESC*>(desc));
    case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_INPUT_LAYOUT):
      return CheckInputLayout(*static_cast<const D3D12_INPUT_LAYOUT_DESC*>(desc));
    case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_STREAM_OUTPUT):
      return CheckStreamOutput(*static_cast<const D3D12_STREAM_OUTPUT_DESC*>(desc));
    case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_VIEW_INSTANCING):
      return CheckViews(*static_cast<const D3D12_VIEW_INSTANCING_DESC*>(desc));
    case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_SERIALIZED_ROOT_SIGNATURE):
      return CheckSerialized(
          static_cast<const D3D12_GLOBAL_SERIALIZED_ROOT_SIGNATURE*>(desc)->Desc);
    case static_cast<uint32_t>(D3D12_STATE_SUBOBJECT_TYPE_LOCAL_SERIALIZED_ROOT_SIGNATURE):
      return CheckSerialized(static_cast<const D3D12_LOCAL_SERIALIZED_ROOT_SIGNATURE*>(desc)->Desc);
    default: return Status();
  }
}

template <typename Value>
Value ValueAt(const std::byte* place) {
  Value value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

// `content`: where the part's value is.
Status CheckStreamPart(uint32_t type, const std::byte* content) {
  switch (type) {
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VS:
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_PS:
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DS:
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_HS:
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_GS:
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CS:
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_AS:
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_MS:
      return CheckShader(ValueAt<D3D12_SHADER_BYTECODE>(content));
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_INPUT_LAYOUT:
      return CheckInputLayout(ValueAt<D3D12_INPUT_LAYOUT_DESC>(content));
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_STREAM_OUTPUT:
      return CheckStreamOutput(ValueAt<D3D12_STREAM_OUTPUT_DESC>(content));
    case D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VIEW_INSTANCING:
      return CheckViews(ValueAt<D3D12_VIEW_INSTANCING_DESC>(content));
    case static_cast<uint32_t>(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SERIALIZED_ROOT_SIGNATURE):
      return CheckSerialized(ValueAt<D3D12_SERIALIZED_ROOT_SIGNATURE_DESC>(content));
    default: return Status();
  }
}

}  // namespace

Status NotNull(const void* pointer, const char* name) {
  if (pointer != nullptr) return Status();
  return Status(StatusCode::kCorrupt, fmt::format("{} is null", name));
}

Status CheckShader(const D3D12_SHADER_BYTECODE& shader) {
  return shader.BytecodeLength == 0 ? Status() : NotNull(shader.pShaderBytecode, "a shader");
}

Status CheckPipeline(const D3D12_GRAPHICS_PIPELINE_STATE_DESC& desc) {
  for (const D3D12_SHADER_BYTECODE* const shader :
       {&desc.VS, &desc.PS, &desc.DS, &desc.HS, &desc.GS}) {
    CAIRN_RETURN_IF_ERROR(CheckShader(*shader));
  }
  CAIRN_RETURN_IF_ERROR(CheckInputLayout(desc.InputLayout));
  return CheckStreamOutput(desc.StreamOutput);
}

Status CheckPipelineStream(const D3D12_PIPELINE_STATE_STREAM_DESC& desc) {
  if (desc.SizeInBytes == 0) return Status();
  CAIRN_RETURN_IF_ERROR(
      NotNull(desc.pPipelineStateSubobjectStream, "pPipelineStateSubobjectStream"));
  const auto* const stream = static_cast<const std::byte*>(desc.pPipelineStateSubobjectStream);
  Status status;
  ForEachPipelinePart(stream, desc.SizeInBytes, [&](const SubobjectInfo& part, size_t content) {
    status = CheckStreamPart(part.type, stream + content);
    if (!status.ok()) {
      status = Status(status.code(),
                      fmt::format("sub-object of type {}: {}", part.type, status.message()));
    }
    return status.ok();
  });
  return status;
}

Status CheckStateObject(const D3D12_STATE_OBJECT_DESC& desc) {
  for (UINT i = 0; i < desc.NumSubobjects; ++i) {
    CAIRN_RETURN_IF_ERROR(NotNull(desc.pSubobjects, "pSubobjects"));
    const D3D12_STATE_SUBOBJECT& part = desc.pSubobjects[i];
    uint32_t type = 0;  // may be none that the header knows
    std::memcpy(&type, &part.Type, sizeof type);
    Status status = NotNull(part.pDesc, "pDesc");
    if (status.ok()) status = CheckSubobject(type, part.pDesc);
    if (!status.ok()) {
      return Status(status.code(),
                    fmt::format("sub-object {} of type {}: {}", i, type, status.message()));
    }
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
