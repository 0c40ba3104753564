// SPDX-License-Identifier: Apache-2.0
//
// AGS on the Direct3D 11 that is there: DXVK in `tools/wine-env --d3d11`, Wine's own in tools/wine-env. What AMD's library would
// do, a library of ours does in its place (fake_amd_ags.cc).
#include <d3d11_1.h>
#include <d3d12.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "cairn/compat/amd_ags.h"

#include "harness.h"
#include "os/environment.h"
#include "os/library.h"

namespace cairn::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr unsigned int kMarkers = 16;
constexpr char kFakeLibrary[] = CAIRN_BINARY_DIR "/tests/fake-amd/amd_ags_x64.dll";
// DXVK's devices have this interface, and no others.
constexpr GUID kDxvkDevice = {
    0xe2ef5fa5, 0xdc21, 0x4af7, {0x90, 0xc4, 0xf6, 0x7e, 0xf6, 0xa0, 0x93, 0x23}};

bool IsDxvk() {
  ID3D11Device* device = nullptr;
  if (FAILED(D3D11CreateDevice(nullptr, D3D_DRIVER_TYPE_HARDWARE, nullptr, 0, nullptr, 0,
                               D3D11_SDK_VERSION, &device, nullptr, nullptr))) {
    return false;
  }
  IUnknown* of_dxvk = nullptr;
  const bool is =
      SUCCEEDED(device->QueryInterface(kDxvkDevice, reinterpret_cast<void**>(&of_dxvk)));
  if (is) of_dxvk->Release();
  device->Release();
  return is;
}

class AgsDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(agsInitialize(AGS_CURRENT_VERSION, nullptr, &ags_, nullptr), AGS_SUCCESS);
  }
  void TearDown() override {
    if (returned_.pDevice != nullptr) Destroy();
    EXPECT_EQ(agsDeInitialize(ags_), AGS_SUCCESS);
    ClearVariable("CAIRN_AMD_AGS");
    ClearVariable("CAIRN_FAKE_AMD");
  }

  AGSReturnCode Create(unsigned int markers) {
    const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
    AGSDX11DeviceCreationParams creation = {};
    creation.DriverType = D3D_DRIVER_TYPE_HARDWARE;
    creation.pFeatureLevels = &level;
    creation.FeatureLevels = 1;
    creation.SDKVersion = D3D11_SDK_VERSION;
    AGSDX11ExtensionParams extensions = {};
    extensions.numBreadcrumbMarkers = markers;
    return agsDriverExtensionsDX11_CreateDevice(ags_, &creation, &extensions, &returned_);
  }
  void CreateWithFake(const char* kind) {
    SetVariable("CAIRN_AMD_AGS", kFakeLibrary);
    SetVariable("CAIRN_FAKE_AMD", kind);
    const auto contexts = Library::Load(kFakeLibrary)->Find<int (*)()>("FakeAmdContexts");
    const int before = contexts();
    ASSERT_EQ(Create(kMarkers), AGS_SUCCESS) << cairnGetLastErrorMessage();
    ASSERT_EQ(returned_.extensionsSupported.breadcrumbMarkers, 1u) << cairnGetLastErrorMessage();
    EXPECT_EQ(contexts(), before + 1) << "nobody has asked it";
  }
  void Destroy() {
    unsigned int device = 99, context = 99;
    EXPECT_EQ(agsDriverExtensionsDX11_DestroyDevice(ags_, returned_.pDevice, &device,
                                                    returned_.pImmediateContext, &context),
              AGS_SUCCESS);
    EXPECT_EQ(device, 0u);
    EXPECT_EQ(context, 0u);
    returned_ = {};
  }
  CairnAgsBreadcrumbs Described() const {
    CairnAgsBreadcrumbs described = {};
    EXPECT_EQ(cairnAgsDescribeBreadcrumbs(ags_, &described), AGS_SUCCESS);
    return described;
  }
  AGSReturnCode Write(AGSBreadcrumbMarker::Type type, unsigned int index, uint64_t value) const {
    const AGSBreadcrumbMarker marker = {value, type, index};
    return agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker);
  }
  uint64_t Slot(unsigned int index) const {
    return static_cast<const volatile uint64_t*>(returned_.breadcrumbBuffer)[index];
  }
  // Until it has the value; false after 20 s.
  bool Arrives(unsigned int index, uint64_t value) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (Slot(index) != value) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void ExpectMarkersWork() const {
    for (unsigned int i = 0; i < kMarkers; ++i) EXPECT_EQ(Slot(i), CAIRN_MARKER_UNWRITTEN) << i;
    EXPECT_EQ(Write(AGSBreadcrumbMarker::TopOfPipe, 0, 0xDEADCAFE), AGS_SUCCESS);
    EXPECT_EQ(Write(AGSBreadcrumbMarker::BottomOfPipe, kMarkers - 1, 0x1122334455667788),
              AGS_SUCCESS);
    returned_.pImmediateContext->Flush();
    EXPECT_TRUE(Arrives(0, 0xDEADCAFE));
    EXPECT_TRUE(Arrives(kMarkers - 1, 0x1122334455667788));
    EXPECT_EQ(Slot(1), CAIRN_MARKER_UNWRITTEN);
  }

  AGSContext* ags_ = nullptr;
  AGSDX11ReturnedParams returned_ = {};
};

TEST_F(AgsDeviceTest, MarkersArriveByWhatTheApiCanOrder) {
  ASSERT_EQ(Create(kMarkers), AGS_SUCCESS) << cairnGetLastErrorMessage();
  ASSERT_EQ(returned_.extensionsSupported.breadcrumbMarkers, 1u) << cairnGetLastErrorMessage();
  const CairnAgsBreadcrumbs described = Described();
  EXPECT_EQ(described.way, CAIRN_AGS_COMPLETION);
  EXPECT_EQ(described.topOfPipe, 0u);
  EXPECT_EQ(described.topSeenEarly, 0u);
  ExpectMarkersWork();
}

TEST_F(AgsDeviceTest, WrongArgumentsGetTheDocumentedCodes) {
  EXPECT_EQ(Write(AGSBreadcrumbMarker::TopOfPipe, 0, 1), AGS_D3DDEVICE_NOT_CREATED);
  ASSERT_EQ(Create(1), AGS_SUCCESS);
  EXPECT_EQ(Write(AGSBreadcrumbMarker::TopOfPipe, 1, 1), AGS_INVALID_ARGS);
  EXPECT_EQ(Write(static_cast<AGSBreadcrumbMarker::Type>(2), 0, 1), AGS_INVALID_ARGS);
  EXPECT_EQ(agsDriverExtensionsDX11_WriteBreadcrumb(ags_, nullptr), AGS_INVALID_ARGS);
  AGSDX11ReturnedParams second = {};
  const AGSDX11DeviceCreationParams creation = {};
  EXPECT_EQ(agsDriverExtensionsDX11_CreateDevice(ags_, &creation, nullptr, &second),
            AGS_INVALID_ARGS);
  EXPECT_EQ(agsDriverExtensionsDX11_BeginUAVOverlap(ags_, nullptr), AGS_EXTENSION_NOT_SUPPORTED);
}

TEST_F(AgsDeviceTest, WithoutMarkersItIsAPlainDevice) {
  ASSERT_EQ(Create(0), AGS_SUCCESS);
  EXPECT_NE(returned_.pDevice, nullptr);
  EXPECT_EQ(returned_.extensionsSupported.breadcrumbMarkers, 0u);
  EXPECT_EQ(returned_.breadcrumbBuffer, nullptr);
  EXPECT_EQ(Described().way, CAIRN_AGS_NONE);
  EXPECT_EQ(Write(AGSBreadcrumbMarker::TopOfPipe, 0, 1), AGS_EXTENSION_NOT_SUPPORTED);
}

TEST_F(AgsDeviceTest, OneDeviceAfterAnother) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Create(kMarkers), AGS_SUCCESS) << cairnGetLastErrorMessage();
    ExpectMarkersWork();
    Destroy();
  }
}

TEST_F(AgsDeviceTest, ALibraryOfAmdThatCanIsUsed) {
  CreateWithFake("works");
  if (HasFatalFailure()) return;
  const CairnAgsBreadcrumbs described = Described();
  EXPECT_EQ(described.way, CAIRN_AGS_AMD_LIBRARY);
  EXPECT_EQ(described.topOfPipe, 1u);
  EXPECT_EQ(described.topSeenEarly, 1u);
  ExpectMarkersWork();
}

TEST_F(AgsDeviceTest, ALibraryOfAmdIsNotBelieved) {
  for (const char* kind : {"lies", "cannot", "stranger"}) {
    SCOPED_TRACE(kind);
    CreateWithFake(kind);
    if (HasFatalFailure()) return;
    EXPECT_EQ(Described().way, CAIRN_AGS_COMPLETION);
    ExpectMarkersWork();
    Destroy();
  }
}

// A list that keeps what its three methods of events are given; nobody calls another.
struct EventList {
  // Slots of ID3D12GraphicsCommandList, in the order in which d3d12.h declares its methods.
  static constexpr size_t kSetMarker = 56, kBeginEvent = 57, kEndEvent = 58;

  EventList() {
    methods[kSetMarker] = reinterpret_cast<void*>(SetMarker);
    methods[kBeginEvent] = reinterpret_cast<void*>(BeginEvent);
    methods[kEndEvent] = reinterpret_cast<void*>(EndEvent);
  }
  static void SetMarker(EventList* self, UINT metadata, const void* data, UINT size) {
    self->Keep("marker", metadata, data, size);
  }
  static void BeginEvent(EventList* self, UINT metadata, const void* data, UINT size) {
    self->Keep("begin", metadata, data, size);
  }
  static void EndEvent(EventList* self) { self->told += "end;"; }
  void Keep(const char* what, UINT metadata, const void* data, UINT size) {
    told += std::string(what) + " " + std::to_string(metadata) + " " +
            std::string(static_cast<const char*>(data), size - 1) + ";";
  }
  ID3D12GraphicsCommandList* list() { return reinterpret_cast<ID3D12GraphicsCommandList*>(this); }

  void** table = methods;
  void* methods[64] = {};
  std::string told;
};

TEST_F(AgsDeviceTest, MarkersOfDirect3D12ArePixEvents) {
  EventList list;
  EXPECT_EQ(agsDriverExtensionsDX12_PushMarker(ags_, list.list(), "Schatten \u00e4"), AGS_SUCCESS);
  EXPECT_EQ(agsDriverExtensionsDX12_SetMarker(ags_, list.list(), "half"), AGS_SUCCESS);
  EXPECT_EQ(agsDriverExtensionsDX12_PopMarker(ags_, list.list()), AGS_SUCCESS);
  EXPECT_EQ(list.told, "begin 1 Schatten \u00e4;marker 1 half;end;");
  EXPECT_EQ(agsDriverExtensionsDX12_PushMarker(ags_, nullptr, "x"), AGS_INVALID_ARGS);
  EXPECT_EQ(agsDriverExtensionsDX12_SetMarker(ags_, list.list(), nullptr), AGS_INVALID_ARGS);
  EXPECT_EQ(agsDriverExtensionsDX12_PopMarker(nullptr, list.list()), AGS_INVALID_ARGS);
}

TEST_F(AgsDeviceTest, DevicesOfDirect3D12) {
  if (IsDxvk()) GTEST_SKIP() << "Wine's Direct3D 12 takes no adapter of DXVK's DXGI";
  AGSDX12DeviceCreationParams creation = {};
  creation.iid = __uuidof(ID3D12Device);
  creation.FeatureLevel = D3D_FEATURE_LEVEL_11_0;
  AGSDX12ReturnedParams returned = {};
  ASSERT_EQ(agsDriverExtensionsDX12_CreateDevice(ags_, &creation, nullptr, &returned), AGS_SUCCESS)
      << cairnGetLastErrorMessage();
  ASSERT_NE(returned.pDevice, nullptr);
  EXPECT_EQ(returned.extensionsSupported.userMarkers, 1u);
  EXPECT_EQ(returned.pDevice->GetNodeCount(), 1u);
  unsigned int references = 99;
  EXPECT_EQ(agsDriverExtensionsDX12_DestroyDevice(ags_, returned.pDevice, &references),
            AGS_SUCCESS);
  EXPECT_EQ(references, 0u);
  creation.iid = {};
  EXPECT_EQ(agsDriverExtensionsDX12_CreateDevice(ags_, &creation, nullptr, &returned),
            AGS_DX_FAILURE);
  EXPECT_EQ(returned.pDevice, nullptr);
}

// The loop of the AGS documentation, and its five examples: the sample compares them with the truth.
TEST(AgsSampleTest, GivesTheAnswersOfTheDocumentation) {
  const CommandResult result = RunCommand({Program("sample-ags-d3d11")}, {.timeout_s = 200});
  RecordProperty("dxvk", IsDxvk());
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  std::string output = result.output;
  std::erase(output, '\r');  // lines end as Windows has them
  EXPECT_THAT(output, HasSubstr("Markers are written by what the API can order; top of pipe is not "
                                "told, not seen before a draw ended\n"));
  // A top marker is at the bottom of the pipe here: it says that the draws before it are done.
  for (const char* line : {
           "Example 1: DrawX hangs, written: 1 2 3, it may be: DrawX\n",
           "Example 2: DrawX hangs, written: 1, it may be: DrawX DrawY\n",
           "Example 2: DrawY hangs, written: 1 2 3, it may be: DrawY\n",
           "Example 3: DrawX hangs, written: 1, it may be: DrawX DrawY DrawZ\n",
           "Example 3: DrawY hangs, written: 1 2, it may be: DrawY DrawZ\n",
           "Example 3: DrawZ hangs, written: 1 2 3, it may be: DrawZ\n",
           "Example 4: DrawX hangs, written: 1, it may be: DrawX DrawY DrawZ\n",
           "Example 4: DrawZ hangs, written: 1 2 3, it may be: DrawZ\n",
           "Example 5: DrawX hangs, written:, it may be: DrawX DrawY\n",
           "Example 5: DrawY hangs, written: 1 2, it may be: DrawY\n",
       }) {
    EXPECT_THAT(output, HasSubstr(line));
  }
  for (int i = 0; i < 8; ++i) {
    const char* const top = i <= 5 ? "00000000DEADCAFE" : "CDCDCDCDCDCDCDCD";
    const char* const bottom = i < 5 ? "00000000DEADBEEF" : "CDCDCDCDCDCDCDCD";
    EXPECT_THAT(output,
                HasSubstr("The draw count is " + std::to_string(i) + "; the top marker is " + top +
                          " and the bottom marker is " + bottom + "\n"));
  }
}

}  // namespace
}  // namespace cairn::testing
