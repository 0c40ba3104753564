// SPDX-License-Identifier: Apache-2.0
#include "d3d12/dred.h"

#include <type_traits>

#include "d3d12/wrappers.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// More nodes than any implementation keeps: a damaged chain must not hold up the program.
constexpr size_t kMaxNodes = 1u << 20;

// What the application holds for a real object.
template <typename T>
void Translate(T*& object) {
  if (object == nullptr) return;
  const Wrapper* const wrapper = Wrappers().Find(object);
  object = wrapper == nullptr ? nullptr
                              : static_cast<std::remove_const_t<T>*>(wrapper->interface_pointer());
}

void TranslateObjects(D3D12_AUTO_BREADCRUMB_NODE& node) {
  Translate(node.pCommandList);
  Translate(node.pCommandQueue);
}
void TranslateObjects(D3D12_AUTO_BREADCRUMB_NODE1& node) {
  Translate(node.pCommandList);
  Translate(node.pCommandQueue);
}
void TranslateObjects(D3D12_DRED_ALLOCATION_NODE1& node) {
  Translate(node.pObject);
}

template <typename Node>
const Node* CopyChain(const Node* head, std::deque<std::vector<Node>>& copies) {
  if (head == nullptr) return nullptr;
  std::vector<Node> nodes;
  for (const Node* node = head; node != nullptr && nodes.size() < kMaxNodes; node = node->pNext) {
    nodes.push_back(*node);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].pNext = i + 1 < nodes.size() ? &nodes[i + 1] : nullptr;
    TranslateObjects(nodes[i]);
  }
  copies.push_back(std::move(nodes));
  return copies.back().data();
}

// `copy()` changes a result of the real call; without memory for that there is no result.
template <typename Copy>
HRESULT Finish(HRESULT result, const void* output, Copy copy) {
  if (FAILED(result) || output == nullptr) return result;
  try {
    copy();
    return result;
  } catch (...) {
    return E_OUTOFMEMORY;
  }
}

}  // namespace

const D3D12_AUTO_BREADCRUMB_NODE* WrappedID3D12DeviceRemovedExtendedData::Copy(
    const D3D12_AUTO_BREADCRUMB_NODE* head) {
  const std::lock_guard lock(mutex_);
  return CopyChain(head, breadcrumbs_copies_);
}

const D3D12_AUTO_BREADCRUMB_NODE1* WrappedID3D12DeviceRemovedExtendedData::Copy(
    const D3D12_AUTO_BREADCRUMB_NODE1* head) {
  const std::lock_guard lock(mutex_);
  return CopyChain(head, breadcrumbs1_copies_);
}

const D3D12_DRED_ALLOCATION_NODE1* WrappedID3D12DeviceRemovedExtendedData::Copy(
    const D3D12_DRED_ALLOCATION_NODE1* head) {
  const std::lock_guard lock(mutex_);
  return CopyChain(head, allocations_copies_);
}

HRESULT WrappedID3D12DeviceRemovedExtendedData::GetAutoBreadcrumbsOutput(
    D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT* output) {
  CallScope call(*this, Method::ID3D12DeviceRemovedExtendedData_GetAutoBreadcrumbsOutput, output);
  const HRESULT returned = Finish(real()->GetAutoBreadcrumbsOutput(output), output, [&] {
    output->pHeadAutoBreadcrumbNode = Copy(output->pHeadAutoBreadcrumbNode);
  });
  return call.Returns(returned, output);
}

HRESULT WrappedID3D12DeviceRemovedExtendedData::GetAutoBreadcrumbsOutput1(
    D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1* output) {
  CallScope call(*this, Method::ID3D12DeviceRemovedExtendedData1_GetAutoBreadcrumbsOutput1, output);
  const HRESULT returned = Finish(real()->GetAutoBreadcrumbsOutput1(output), output, [&] {
    output->pHeadAutoBreadcrumbNode = Copy(output->pHeadAutoBreadcrumbNode);
  });
  return call.Returns(returned, output);
}

HRESULT WrappedID3D12DeviceRemovedExtendedData::GetPageFaultAllocationOutput1(
    D3D12_DRED_PAGE_FAULT_OUTPUT1* output) {
  CallScope call(*this, Method::ID3D12DeviceRemovedExtendedData1_GetPageFaultAllocationOutput1,
                 output);
  const HRESULT returned = Finish(real()->GetPageFaultAllocationOutput1(output), output, [&] {
    output->pHeadExistingAllocationNode = Copy(output->pHeadExistingAllocationNode);
    output->pHeadRecentFreedAllocationNode = Copy(output->pHeadRecentFreedAllocationNode);
  });
  return call.Returns(returned, output);
}

HRESULT WrappedID3D12DeviceRemovedExtendedData::GetPageFaultAllocationOutput2(
    D3D12_DRED_PAGE_FAULT_OUTPUT2* output) {
  CallScope call(*this, Method::ID3D12DeviceRemovedExtendedData2_GetPageFaultAllocationOutput2,
                 output);
  const HRESULT returned = Finish(real()->GetPageFaultAllocationOutput2(output), output, [&] {
    output->pHeadExistingAllocationNode = Copy(output->pHeadExistingAllocationNode);
    output->pHeadRecentFreedAllocationNode = Copy(output->pHeadRecentFreedAllocationNode);
  });
  return call.Returns(returned, output);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
