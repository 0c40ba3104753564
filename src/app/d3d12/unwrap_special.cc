// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/unwrap_special.h"

#include <cstring>
#include <functional>

#include "app/d3d12/pipeline_stream.h"
#include "app/d3d12/wrapper.h"
#include "d3d12gen/supplement.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// A copy of what a sub-object describes, with the object that `member` names unwrapped. The
// description itself if there is none or no memory.
template <typename Desc, typename Object>
const void* CopyWithObject(Scratch& scratch, const void* desc, Object* Desc::*member) {
  if (desc == nullptr) return nullptr;
  Desc* const copy = scratch.Copy(static_cast<const Desc*>(desc), 1);
  if (copy == nullptr) return desc;
  copy->*member = Unwrap(copy->*member);
  return copy;
}

// The sub-objects of a state object, as the application passed them and as a copy.
struct Subobjects {
  const D3D12_STATE_SUBOBJECT* passed;
  D3D12_STATE_SUBOBJECT* copies;
  size_t count;

  bool Contains(const D3D12_STATE_SUBOBJECT* pointer) const {
    return std::greater_equal<>()(pointer, passed) && std::less<>()(pointer, passed + count);
  }
};

const void* CopyAssociation(Scratch& scratch, const void* desc, const Subobjects& subobjects) {
  using Association = D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION;
  if (desc == nullptr) return nullptr;
  const auto* const association = static_cast<const Association*>(desc);
  // A pointer elsewhere is invalid, or means a sub-object that is not ours to change.
  if (!subobjects.Contains(association->pSubobjectToAssociate)) return desc;
  Association* const copy = scratch.Copy(association, 1);
  if (copy == nullptr) return desc;
  copy->pSubobjectToAssociate =
      subobjects.copies + (association->pSubobjectToAssociate - subobjects.passed);
  return copy;
}

const void* CopyProgram(Scratch& scratch, const void* desc, const Subobjects& subobjects) {
  if (desc == nullptr) return nullptr;
  const auto* const program = static_cast<const D3D12_GENERIC_PROGRAM_DESC*>(desc);
  if (program->ppSubobjects == nullptr) return desc;
  auto* const copy = scratch.Copy(program, 1);
  auto** const parts = scratch.Allocate<const D3D12_STATE_SUBOBJECT*>(program->NumSubobjects);
  if (copy == nullptr || parts == nullptr) return desc;
  for (UINT i = 0; i < program->NumSubobjects; ++i) {
    const D3D12_STATE_SUBOBJECT* const part = program->ppSubobjects[i];
    parts[i] = subobjects.Contains(part) ? subobjects.copies + (part - subobjects.passed) : part;
  }
  copy->ppSubobjects = parts;
  return copy;
}

const void* CopySubobject(Scratch& scratch, const D3D12_STATE_SUBOBJECT& subobject,
                          const Subobjects& all) {
  switch (NumberOf(subobject.Type)) {
    case D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_ROOT_SIGNATURE:
      return CopyWithObject(scratch, subobject.pDesc,
                            &D3D12_GLOBAL_ROOT_SIGNATURE::pGlobalRootSignature);
    case D3D12_STATE_SUBOBJECT_TYPE_LOCAL_ROOT_SIGNATURE:
      return CopyWithObject(scratch, subobject.pDesc,
                            &D3D12_LOCAL_ROOT_SIGNATURE::pLocalRootSignature);
    case D3D12_STATE_SUBOBJECT_TYPE_EXISTING_COLLECTION:
      return CopyWithObject(scratch, subobject.pDesc,
                            &D3D12_EXISTING_COLLECTION_DESC::pExistingCollection);
    case D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION:
      return CopyAssociation(scratch, subobject.pDesc, all);
    case D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM:
      return CopyProgram(scratch, subobject.pDesc, all);
    default: return subobject.pDesc;
  }
}

void UnwrapRootSignature(std::byte* place) {
  ID3D12RootSignature* signature;
  std::memcpy(&signature, place, sizeof(signature));
  signature = Unwrap(signature);
  std::memcpy(place, &signature, sizeof(signature));
}

void UnwrapStream(std::byte* stream, size_t size) {
  ForEachSubobject({stream, size}, [stream](uint32_t type, size_t content) {
    if (type == D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_ROOT_SIGNATURE) {
      UnwrapRootSignature(stream + content);
    }
  });
}

}  // namespace

void UnwrapFields(Scratch& scratch, D3D12_STATE_OBJECT_DESC& copy) {
  if (copy.pSubobjects == nullptr || copy.NumSubobjects == 0) return;
  const Subobjects all = {.passed = copy.pSubobjects,
                          .copies = scratch.Copy(copy.pSubobjects, copy.NumSubobjects),
                          .count = copy.NumSubobjects};
  if (all.copies == nullptr) return;
  for (size_t i = 0; i < all.count; ++i) {
    all.copies[i].pDesc = CopySubobject(scratch, all.passed[i], all);
  }
  copy.pSubobjects = all.copies;
}

void UnwrapFields(Scratch& scratch, D3D12_PIPELINE_STATE_STREAM_DESC& copy) {
  if (copy.pPipelineStateSubobjectStream == nullptr || copy.SizeInBytes == 0) return;
  std::byte* const stream = scratch.Copy(
      static_cast<const std::byte*>(copy.pPipelineStateSubobjectStream), copy.SizeInBytes);
  if (stream == nullptr) return;
  UnwrapStream(stream, copy.SizeInBytes);
  copy.pPipelineStateSubobjectStream = stream;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
