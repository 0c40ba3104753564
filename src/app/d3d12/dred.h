// SPDX-License-Identifier: Apache-2.0
//
// ID3D12DeviceRemovedExtendedData: the implementation's own record of what was running. Its nodes point
// to lists, queues and objects of the implementation: the application gets copies that point to what it
// holds. Objects that have ended have no wrapper: null stands for them. Where a list's events have EventIDs,
// the contexts of its node say them: "Shadows (EventID 0x1000001)" leads from the implementation's record to
// the report.
#ifndef CAIRN_APP_D3D12_DRED_H_
#define CAIRN_APP_D3D12_DRED_H_

#include <deque>
#include <mutex>
#include <vector>

#include "d3d12gen/thin/ID3D12DeviceRemovedExtendedData.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12DeviceRemovedExtendedData final : public ThinID3D12DeviceRemovedExtendedData {
 public:
  WrappedID3D12DeviceRemovedExtendedData(void* real, Wrapper& owner)
      : ThinID3D12DeviceRemovedExtendedData(real, &owner) {}

  HRESULT STDMETHODCALLTYPE
  GetAutoBreadcrumbsOutput(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT* output) override;
  HRESULT STDMETHODCALLTYPE
  GetAutoBreadcrumbsOutput1(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1* output) override;
  HRESULT STDMETHODCALLTYPE
  GetPageFaultAllocationOutput1(D3D12_DRED_PAGE_FAULT_OUTPUT1* output) override;
  HRESULT STDMETHODCALLTYPE
  GetPageFaultAllocationOutput2(D3D12_DRED_PAGE_FAULT_OUTPUT2* output) override;

 private:
  // Copies of whole chains of nodes. They live as long as the device, like the implementation's; each
  // call makes new ones, for the implementation's may have grown.
  const D3D12_AUTO_BREADCRUMB_NODE* Copy(const D3D12_AUTO_BREADCRUMB_NODE* head);
  const D3D12_AUTO_BREADCRUMB_NODE1* Copy(const D3D12_AUTO_BREADCRUMB_NODE1* head);
  const D3D12_DRED_ALLOCATION_NODE1* Copy(const D3D12_DRED_ALLOCATION_NODE1* head);

  // Sets the contexts of a node's events to their EventIDs, in copies.
  void AddEventIds(D3D12_AUTO_BREADCRUMB_NODE1& node);

  std::mutex mutex_;
  std::deque<std::vector<D3D12_AUTO_BREADCRUMB_NODE>> breadcrumbs_copies_;
  std::deque<std::vector<D3D12_AUTO_BREADCRUMB_NODE1>> breadcrumbs1_copies_;
  std::deque<std::vector<D3D12_DRED_ALLOCATION_NODE1>> allocations_copies_;
  std::deque<std::vector<D3D12_DRED_BREADCRUMB_CONTEXT>> contexts_copies_;
  std::deque<std::vector<char>> texts_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_DRED_H_
