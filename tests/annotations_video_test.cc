// SPDX-License-Identifier: Apache-2.0
//
// Video-process command lists: libvkd3d has none, so that the layer wraps a list that does nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "annotations_device.h"
#include "d3d12/policy.h"
#include "d3d12gen/thin.h"

namespace cairn::annotations_test {
namespace {

const Environment environment("logging");

#pragma GCC diagnostic push
// COM objects end in Release, not through a base's destructor.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class VideoProcessList final : public ID3D12VideoProcessCommandList {
 public:
  explicit VideoProcessList(std::vector<int>* metadata) : metadata_(metadata) {}
  virtual ~VideoProcessList() = default;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    *object = nullptr;
    for (const GUID& known :
         {__uuidof(IUnknown), __uuidof(ID3D12Object), __uuidof(ID3D12DeviceChild),
          __uuidof(ID3D12CommandList), __uuidof(ID3D12VideoProcessCommandList)}) {
      if (riid != known) continue;
      AddRef();
      *object = this;
      return S_OK;
    }
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override {
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetName(LPCWSTR) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override { return E_NOTIMPL; }
  D3D12_COMMAND_LIST_TYPE STDMETHODCALLTYPE GetType() override {
    return D3D12_COMMAND_LIST_TYPE_VIDEO_PROCESS;
  }
  HRESULT STDMETHODCALLTYPE Close() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*) override { return S_OK; }
  void STDMETHODCALLTYPE ClearState() override {}
  void STDMETHODCALLTYPE ResourceBarrier(UINT, const D3D12_RESOURCE_BARRIER*) override {}
  void STDMETHODCALLTYPE DiscardResource(ID3D12Resource*, const D3D12_DISCARD_REGION*) override {}
  void STDMETHODCALLTYPE BeginQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {}
  void STDMETHODCALLTYPE EndQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {}
  void STDMETHODCALLTYPE ResolveQueryData(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT, UINT,
                                          ID3D12Resource*, UINT64) override {}
  void STDMETHODCALLTYPE SetPredication(ID3D12Resource*, UINT64, D3D12_PREDICATION_OP) override {}
  void STDMETHODCALLTYPE SetMarker(UINT metadata, const void*, UINT) override {
    metadata_->push_back(static_cast<int>(metadata));
  }
  void STDMETHODCALLTYPE BeginEvent(UINT metadata, const void*, UINT) override {
    metadata_->push_back(static_cast<int>(metadata));
  }
  void STDMETHODCALLTYPE EndEvent() override { metadata_->push_back(-1); }
  void STDMETHODCALLTYPE ProcessFrames(ID3D12VideoProcessor*,
                                       const D3D12_VIDEO_PROCESS_OUTPUT_STREAM_ARGUMENTS*, UINT,
                                       const D3D12_VIDEO_PROCESS_INPUT_STREAM_ARGUMENTS*) override {
  }
  void STDMETHODCALLTYPE WriteBufferImmediate(UINT, const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER*,
                                              const D3D12_WRITEBUFFERIMMEDIATE_MODE*) override {}

 private:
  std::vector<int>* const metadata_;
  std::atomic<ULONG> references_{1};
};
#pragma GCC diagnostic pop

TEST(Annotations, M2_VideoProcessListsFollowTheMode) {
  RecordedCalls calls;
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  Wrapper* const wrapper = AsWrapper(device.get());
  ASSERT_NE(nullptr, wrapper);
  for (const auto mode : {kRuntimeOnly, kDriverRetail}) {
    SetMode(device, mode);
    std::vector<int> real;
    ComPtr<ID3D12VideoProcessCommandList> list;
    ASSERT_EQ(S_OK,
              WrapCreated(*wrapper, InterfaceTraits<ID3D12VideoProcessCommandList>::kChains[0],
                          new VideoProcessList(&real), __uuidof(ID3D12VideoProcessCommandList),
                          list.Receive()));
    SetMode(device, mode == kRuntimeOnly ? kDriverRetail : kRuntimeOnly);
    list->BeginEvent(10, "a", 1);
    list->SetMarker(11, "b", 1);
    list->EndEvent();
    list->SetName(L"video");
    // The implementation hears of all of it, whatever the mode.
    EXPECT_THAT(real, testing::ElementsAre(10, 11, -1));
    const std::vector<Call> seen = calls.Take();
    if (mode == kRuntimeOnly) {
      EXPECT_EQ(0u, seen.size());
      continue;
    }
    ASSERT_EQ(4u, seen.size());
    EXPECT_EQ(DriverFunction::kCmdListBeginEvent, seen[0].function);
    EXPECT_EQ(DriverFunction::kCmdListSetMarker, seen[1].function);
    EXPECT_EQ(DriverFunction::kCmdListEndEvent, seen[2].function);
    EXPECT_EQ(DriverFunction::kSetName, seen[3].function);
    EXPECT_EQ(10u, seen[0].metadata);
    EXPECT_EQ(11u, seen[1].metadata);
    EXPECT_EQ(seen[0].event_id, seen[2].event_id);
    for (const Call& call : seen) EXPECT_EQ(22u, call.handle_type);
  }
}

}  // namespace
}  // namespace cairn::annotations_test
