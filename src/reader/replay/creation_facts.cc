// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/creation_facts.h"

#include <cstring>
#include <memory>
#include <utility>

#include "reader/replay/buffer_addresses.h"
#include "reader/replay/root_signature.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// From a trace: perhaps none that these headers know.
uint32_t TypeOf(const D3D12_INDIRECT_ARGUMENT_DESC& argument) {
  uint32_t type;
  static_assert(sizeof(type) == sizeof(argument.Type));
  std::memcpy(&type, &argument.Type, sizeof(type));
  return type;
}

bool Dispatches(const D3D12_COMMAND_SIGNATURE_DESC& desc) {
  if (desc.NumArgumentDescs == 0) return false;
  const uint32_t last = TypeOf(desc.pArgumentDescs[desc.NumArgumentDescs - 1]);
  return last == D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH ||
         last == D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_RAYS;
}

// Commands that set root arguments of the root signature that they are made for.
Status CheckCommand(const D3D12_INDIRECT_ARGUMENT_DESC& argument, const ReplayObject* signature) {
  using Kind = RootParameter::Kind;
  Kind kind = Kind::kConstants;
  uint64_t index = 0;
  uint64_t constants = 1;  // D3D12_INDIRECT_ARGUMENT_TYPE_INCREMENTING_CONSTANT
  switch (TypeOf(argument)) {
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT:
      constants = argument.Constant.Num32BitValuesToSet;
      [[fallthrough]];
    // Its members are those of a constant, without the last.
    case kIncrementingConstant: index = argument.Constant.RootParameterIndex; break;
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW:
      kind = Kind::kConstantBuffer;
      index = argument.ConstantBufferView.RootParameterIndex;
      break;
    case D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW:
      kind = Kind::kShaderResource;
      index = argument.ShaderResourceView.RootParameterIndex;
      break;
    case D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW:
      kind = Kind::kUnordered;
      index = argument.UnorderedAccessView.RootParameterIndex;
      break;
    default: return Status();
  }
  if (signature == nullptr) {
    return Status(StatusCode::kCorrupt, "root arguments of commands without a root signature");
  }
  const RootSignatureLayout* const layout = signature->created.root_signature.get();
  if (layout == nullptr) {
    return Status(StatusCode::kUnsupported, "the root signature of its commands is not known");
  }
  CAIRN_RETURN_IF_ERROR(CheckParameter(*layout, index, kind));
  if (kind != Kind::kConstants) return Status();
  return CheckConstants(layout->parameters[index], argument.Constant.DestOffsetIn32BitValues,
                        constants);
}

}  // namespace

Status CheckCreation(CallInProgress* call) {
  if (call->method == Method::ID3D12Device_CreateRootSignature) {
    const Result<RootSignatureLayout> layout = ParseRootSignature(
        {static_cast<const std::byte*>(call->At<const void*>(1)), call->At<SIZE_T>(2)});
    return layout.ok() ? Status() : layout.status();
  }
  if (call->method == Method::ID3D12Device_CreateCommandSignature) {
    const auto& desc = *call->At<const D3D12_COMMAND_SIGNATURE_DESC*>(0);
    for (UINT i = 0; i < desc.NumArgumentDescs; ++i) {
      CAIRN_RETURN_IF_ERROR(CheckCommand(desc.pArgumentDescs[i], call->ObjectAt(1)));
    }
    return Status();
  }
  return call->Needless(CallPart::kCreationChecks);
}

CreationFacts FactsOf(CallInProgress* call, bool lost_pipeline) {
  CreationFacts facts;
  switch (call->method) {
    // A library shows its root signature if it has one alone.
    case Method::ID3D12Device_CreateRootSignature:
    case Method::ID3D12Device14_CreateRootSignatureFromSubobjectInLibrary: {
      Result<RootSignatureLayout> layout = ParseRootSignature(
          {static_cast<const std::byte*>(call->At<const void*>(1)), call->At<SIZE_T>(2)});
      if (layout.ok()) {
        facts.root_signature = std::make_shared<const RootSignatureLayout>(std::move(*layout));
      }
      break;
    }
    case Method::ID3D12Device5_CreateMetaCommand: facts.meta_command = call->At<GUID>(0); break;
    case Method::ID3D12Device_CreateQueryHeap:
    case Method::ID3D12Device15_CreateQueryHeap1:
      facts.queries = *call->At<const D3D12_QUERY_HEAP_DESC*>(0);
      break;
    case Method::ID3D12Device_CreateCommandSignature:
      facts.dispatches = Dispatches(*call->At<const D3D12_COMMAND_SIGNATURE_DESC*>(0));
      break;
    case Method::ID3D12Device_CreateCommandList: {
      const ReplayObject* const allocator = call->ObjectAt(2);
      facts.allocator = allocator == nullptr ? kNoObject : allocator->number;
      facts.allocator_resets = allocator == nullptr ? 0 : allocator->resets;
      facts.pipeline = ComPtr<IUnknown>(call->At<IUnknown*>(3));
      facts.lost_pipeline = lost_pipeline;
      break;
    }
    default: break;
  }
  return facts;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
