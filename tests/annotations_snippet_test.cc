// SPDX-License-Identifier: Apache-2.0
//
// The program of docs/reference/annotations.md, as it is printed there: it compiles, links, and asks a device for what it says.
#include "annotations_snippet.inc"

#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>

namespace {

bool Same(REFIID a, REFIID b) {
  return std::memcmp(&a, &b, sizeof(IID)) == 0;
}

class Tools final : public ID3D12DeviceTools2 {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void**) override { return E_NOINTERFACE; }
  ULONG STDMETHODCALLTYPE AddRef() override { return 1; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  void STDMETHODCALLTYPE SetNextAllocationAddress(D3D12_GPU_VIRTUAL_ADDRESS) override {}
  HRESULT STDMETHODCALLTYPE GetApplicationSpecificDriverState(ID3DBlob**) override {
    return E_NOTIMPL;
  }
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS STDMETHODCALLTYPE
  GetApplicationSpecificDriverBlobStatus() override {
    return D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_UNKNOWN;
  }
  HRESULT STDMETHODCALLTYPE
  SetUserDefinedAnnotationMode(D3D12_USER_DEFINED_ANNOTATION_MODE mode) override {
    mode_ = mode;
    return S_OK;
  }
  D3D12_USER_DEFINED_ANNOTATION_MODE STDMETHODCALLTYPE GetUserDefinedAnnotationMode() override {
    return mode_;
  }

 private:
  D3D12_USER_DEFINED_ANNOTATION_MODE mode_ = D3D12_USER_DEFINED_ANNOTATION_MODE_RUNTIME_ONLY;
};

Tools tools;
int queries = 0;

HRESULT STDMETHODCALLTYPE Query(ID3D12Device*, REFIID iid, void** object) {
  EXPECT_TRUE(Same(iid, IID_ID3D12DeviceTools2));
  *object = static_cast<ID3D12DeviceTools2*>(&tools);
  return S_OK;
}
// The installed headers do not have this D3D12_FEATURE yet.
HRESULT STDMETHODCALLTYPE CheckFeature(ID3D12Device*, UINT feature, void*, UINT bytes) {
  ++queries;
  EXPECT_EQ(73u, feature);
  EXPECT_EQ(sizeof(BOOL), bytes);
  return S_OK;
}
void STDMETHODCALLTYPE Unexpected() {
  ADD_FAILURE() << "a method that the program does not call";
}

TEST(AnnotationsPage, TheProgramLinksAndSetsTheMode) {
  constexpr size_t kCheckFeatureSupport = 13;
  void* methods[64];
  for (void*& method : methods) method = reinterpret_cast<void*>(&Unexpected);
  methods[0] = reinterpret_cast<void*>(&Query);
  methods[kCheckFeatureSupport] = reinterpret_cast<void*>(&CheckFeature);
  void** device = methods;
  Snippet(reinterpret_cast<ID3D12Device*>(&device));
  EXPECT_EQ(1, queries);
  EXPECT_EQ(D3D12_USER_DEFINED_ANNOTATION_MODE_DRIVER_RETAIL, tools.GetUserDefinedAnnotationMode());
}

TEST(AnnotationsPage, InterfacesHaveTheirIds) {
  EXPECT_TRUE(Same(__uuidof(ID3D12DeviceTools), IID_ID3D12DeviceTools));
  EXPECT_TRUE(Same(__uuidof(ID3D12DeviceTools1), IID_ID3D12DeviceTools1));
  EXPECT_TRUE(Same(__uuidof(ID3D12DeviceTools2), IID_ID3D12DeviceTools2));
}

}  // namespace
