// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/dred.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "app/d3d12/device.h"
#include "app/d3d12/globals.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// More nodes than any implementation keeps: a damaged chain must not hold up the program.
constexpr size_t kMaxNodes = 1u << 20;

// Replaces a real object by the application's wrapper.
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

// Returns the EventIDs of the list's events, in the order of the calls; empty if there are none, or
// if they cannot be assigned.
std::vector<uint64_t> EventIdsOf(ID3D12GraphicsCommandList* real) {
  std::vector<uint64_t> ids;
  Wrapper* const wrapper = real == nullptr ? nullptr : Wrappers().Find(real);
  const LayerList* const list = wrapper == nullptr ? nullptr : wrapper->layer_list();
  if (list != nullptr && list->recording != nullptr) list->recording->AnnotationEventIds(&ids);
  return ids;
}

bool IsAnnotation(D3D12_AUTO_BREADCRUMB_OP op) {
  return op == D3D12_AUTO_BREADCRUMB_OP_BEGINEVENT || op == D3D12_AUTO_BREADCRUMB_OP_SETMARKER;
}

// `text` may be null; with " (EventID 0x...)" behind it, and a zero, in characters of the device.
template <typename Character>
std::vector<char> WithEventId(const void* text, uint64_t event_id) {
  std::basic_string<Character> result;
  if (text != nullptr) {
    for (auto* from = static_cast<const char*>(text);; from += sizeof(Character)) {
      Character character;
      std::memcpy(&character, from, sizeof(character));
      if (character == 0) break;
      result += character;
    }
  }
  if (!result.empty()) result += static_cast<Character>(' ');
  for (const char c : fmt::format("(EventID {:#x})", event_id)) result += static_cast<Character>(c);
  const char* const bytes = reinterpret_cast<const char*>(result.c_str());
  return std::vector<char>(bytes, bytes + (result.size() + 1) * sizeof(Character));
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
  // Read the nodes before their objects are replaced by the application's.
  std::vector<D3D12_AUTO_BREADCRUMB_NODE1> nodes;
  for (const auto* node = head; node != nullptr && nodes.size() < kMaxNodes; node = node->pNext) {
    nodes.push_back(*node);
    AddEventIds(nodes.back());
  }
  for (size_t i = 0; i + 1 < nodes.size(); ++i) nodes[i].pNext = &nodes[i + 1];
  if (!nodes.empty()) nodes.back().pNext = nullptr;
  return CopyChain<D3D12_AUTO_BREADCRUMB_NODE1>(nodes.empty() ? nullptr : nodes.data(),
                                                breadcrumbs1_copies_);
}

void WrappedID3D12DeviceRemovedExtendedData::AddEventIds(D3D12_AUTO_BREADCRUMB_NODE1& node) {
  // The history is a ring: events of longer ones cannot be assigned.
  constexpr UINT kHistory = 65536;
  if (node.pCommandHistory == nullptr || node.pBreadcrumbContexts == nullptr ||
      node.BreadcrumbCount > kHistory) {
    return;
  }
  const std::vector<uint64_t> ids = EventIdsOf(node.pCommandList);
  if (ids.empty()) return;
  std::vector<uint64_t> id_of(node.BreadcrumbCount);
  size_t annotation = 0;
  for (UINT i = 0; i < node.BreadcrumbCount; ++i) {
    if (!IsAnnotation(node.pCommandHistory[i])) continue;
    if (annotation < ids.size()) id_of[i] = ids[annotation];
    ++annotation;
  }
  std::vector<D3D12_DRED_BREADCRUMB_CONTEXT> contexts(
      node.pBreadcrumbContexts, node.pBreadcrumbContexts + node.BreadcrumbContextsCount);
  for (D3D12_DRED_BREADCRUMB_CONTEXT& context : contexts) {
    const UINT index = context.BreadcrumbIndex;
    if (index >= id_of.size() || id_of[index] == 0) continue;
    texts_.push_back(device()->wchar_bytes() == sizeof(char16_t)
                         ? WithEventId<char16_t>(context.pContextString, id_of[index])
                         : WithEventId<char32_t>(context.pContextString, id_of[index]));
    context.pContextString =
        reinterpret_cast<decltype(context.pContextString)>(texts_.back().data());
  }
  contexts_copies_.push_back(std::move(contexts));
  node.pBreadcrumbContexts = contexts_copies_.back().data();
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
