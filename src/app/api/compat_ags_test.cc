// SPDX-License-Identifier: Apache-2.0
//
// A program written for the breadcrumb API of AGS, recompiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <vector>

#include "cairn/compat/amd_ags.h"

extern "C" int CairnTestAgsInC();  // compat_ags_test_names.c

namespace cairn {
namespace {

using testing::HasSubstr;

struct Write {
  uint64_t offset;
  uint32_t value;
  bool top;
  bool operator==(const Write&) const = default;
};

// A backend whose command buffer is a vector of writes.
struct Gpu {
  std::vector<uint64_t> memory;

  static CairnResult Allocate(void* self, uint64_t size_bytes, CairnCustomBlock* block) {
    std::vector<uint64_t>& memory = static_cast<Gpu*>(self)->memory;
    memory.resize((size_bytes + 7) / 8);
    *block = {memory.data(), &memory, 0};
    return CAIRN_OK;
  }
  static void Free(void* self, CairnCustomBlock*) { static_cast<Gpu*>(self)->memory.clear(); }
  static void Record(void*, void* commands, uint32_t value, uint64_t location, void*, int top) {
    static_cast<std::vector<Write>*>(commands)->push_back({location, value, top != 0});
  }
  void Execute(const std::vector<Write>& commands) {
    for (const Write& write : commands) {
      // The context's thread reads the words meanwhile.
      uint32_t* words = reinterpret_cast<uint32_t*>(memory.data());
      std::atomic_ref<uint32_t>(words[write.offset / 4]).store(write.value);
    }
  }
};

class AgsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(AGS_SUCCESS, agsInitialize(AGS_CURRENT_VERSION, nullptr, &ags_, nullptr));
  }
  void TearDown() override {
    EXPECT_EQ(AGS_SUCCESS, agsDeInitialize(ags_));
    if (cairn_ != nullptr) {
      EXPECT_EQ(CAIRN_OK, cairnDestroyContext(cairn_));
    }
  }
  void Attach(uint32_t raw_marker_count) {
    CairnContextDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.raw_marker_count = raw_marker_count;
    CairnCustomBackend backend{};
    backend.struct_size = sizeof(backend);
    backend.user_data = &gpu_;
    backend.allocate_block = Gpu::Allocate;
    backend.free_block = Gpu::Free;
    backend.write = Gpu::Record;
    ASSERT_EQ(CAIRN_OK, cairnCreateContextCustom(&desc, &backend, &cairn_));
    ASSERT_EQ(AGS_SUCCESS, cairnAgsAttach(ags_, cairn_));
  }

  Gpu gpu_;
  AGSContext* ags_ = nullptr;
  CairnContext* cairn_ = nullptr;
};

TEST_F(AgsTest, MarkersReachTheirSlotsAndUnwrittenOnesAreRecognisable) {
  Attach(4);
  const volatile void* buffer = nullptr;
  ASSERT_EQ(AGS_SUCCESS, cairnAgsGetBreadcrumbBuffer(ags_, &buffer));
  std::vector<Write> commands;
  ASSERT_EQ(AGS_SUCCESS, cairnAgsSetCommandBuffer(ags_, &commands));

  AGSBreadcrumbMarker marker{};
  marker.markerData = 0x11223344DEADCAFE;
  marker.type = AGSBreadcrumbMarker::TopOfPipe;
  marker.index = 0;
  ASSERT_EQ(AGS_SUCCESS, agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker));
  marker.markerData = 0xDEADBEEF;
  marker.type = AGSBreadcrumbMarker::BottomOfPipe;
  marker.index = 3;
  ASSERT_EQ(AGS_SUCCESS, agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker));

  ASSERT_EQ(4u, commands.size());
  EXPECT_TRUE(commands[0].top);
  EXPECT_FALSE(commands[3].top);
  gpu_.Execute(commands);
  cairnRefresh(cairn_);
  const auto* slots = static_cast<const volatile uint64_t*>(buffer);
  EXPECT_EQ(0x11223344DEADCAFE, slots[0]);
  EXPECT_EQ(CAIRN_MARKER_UNWRITTEN, slots[1]);
  EXPECT_EQ(CAIRN_MARKER_UNWRITTEN, slots[2]);
  EXPECT_EQ(0xDEADBEEFu, slots[3]);
}

TEST_F(AgsTest, WrongArgumentsGetTheDocumentedCodes) {
  AGSBreadcrumbMarker marker{};
  EXPECT_EQ(AGS_D3DDEVICE_NOT_CREATED, agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker));
  Attach(4);
  EXPECT_EQ(AGS_INVALID_ARGS, agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker));
  EXPECT_THAT(cairnGetLastErrorMessage(), HasSubstr("cairnAgsSetCommandBuffer"));
  std::vector<Write> commands;
  ASSERT_EQ(AGS_SUCCESS, cairnAgsSetCommandBuffer(ags_, &commands));
  EXPECT_EQ(AGS_INVALID_ARGS, agsDriverExtensionsDX11_WriteBreadcrumb(nullptr, &marker));
  EXPECT_EQ(AGS_INVALID_ARGS, agsDriverExtensionsDX11_WriteBreadcrumb(ags_, nullptr));
  marker.index = 4;
  EXPECT_EQ(AGS_INVALID_ARGS, agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker));
  EXPECT_TRUE(commands.empty());
}

TEST_F(AgsTest, WithoutRawMarkersTheExtensionIsNotSupported) {
  Attach(0);
  std::vector<Write> commands;
  ASSERT_EQ(AGS_SUCCESS, cairnAgsSetCommandBuffer(ags_, &commands));
  const AGSBreadcrumbMarker marker{};
  EXPECT_EQ(AGS_EXTENSION_NOT_SUPPORTED, agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker));
  const volatile void* buffer = nullptr;
  EXPECT_EQ(AGS_EXTENSION_NOT_SUPPORTED, cairnAgsGetBreadcrumbBuffer(ags_, &buffer));
  EXPECT_EQ(nullptr, buffer);
}

// Windows has it: tests/windows/ags.
#if !defined(_WIN32)
TEST_F(AgsTest, Direct3D11IsNotOnThisPlatform) {
  AGSDX11DeviceCreationParams creation{};
  AGSDX11ExtensionParams extensions{};
  extensions.numBreadcrumbMarkers = 8;
  AGSDX11ReturnedParams returned{};
  returned.extensionsSupported.breadcrumbMarkers = 1;
  EXPECT_EQ(AGS_EXTENSION_NOT_SUPPORTED,
            agsDriverExtensionsDX11_CreateDevice(ags_, &creation, &extensions, &returned));
  EXPECT_EQ(0u, returned.extensionsSupported.breadcrumbMarkers);
  EXPECT_EQ(nullptr, returned.breadcrumbBuffer);
  EXPECT_EQ(AGS_D3DDEVICE_NOT_CREATED,
            agsDriverExtensionsDX11_DestroyDevice(ags_, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(AGS_INVALID_ARGS,
            agsDriverExtensionsDX11_CreateDevice(ags_, nullptr, &extensions, &returned));
}

TEST_F(AgsTest, Direct3D12IsNotOnThisPlatform) {
  AGSDX12DeviceCreationParams creation{};
  AGSDX12ReturnedParams returned{};
  returned.extensionsSupported.userMarkers = 1;
  EXPECT_EQ(AGS_EXTENSION_NOT_SUPPORTED,
            agsDriverExtensionsDX12_CreateDevice(ags_, &creation, nullptr, &returned));
  EXPECT_EQ(0u, returned.extensionsSupported.userMarkers);
  EXPECT_EQ(AGS_EXTENSION_NOT_SUPPORTED,
            agsDriverExtensionsDX12_PushMarker(ags_, nullptr, "Shadows"));
  EXPECT_THAT(cairnGetLastErrorMessage(), HasSubstr("cairn/pix.h"));
}
#endif

TEST_F(AgsTest, WhatIsNotAboutMarkersIsHereByName) {
  EXPECT_EQ(AGS_EXTENSION_NOT_SUPPORTED, agsDriverExtensionsDX11_BeginUAVOverlap(ags_, nullptr));
  EXPECT_EQ(AGS_EXTENSION_NOT_SUPPORTED,
            agsDriverExtensionsDX11_SetDepthBounds(ags_, nullptr, true, 0, 1));
  EXPECT_EQ(AGS_SOFTWAREVERSIONCHECK_UNDEFINED, agsCheckDriverVersion("23.1.1", 0));
  CairnAgsBreadcrumbs described{};
  EXPECT_EQ(AGS_D3DDEVICE_NOT_CREATED, cairnAgsDescribeBreadcrumbs(ags_, &described));
  EXPECT_EQ(AGS_INVALID_ARGS, cairnAgsDescribeBreadcrumbs(ags_, nullptr));
}

// Sizes and offsets that AMD's own library uses.
TEST(AgsLayout, IsThatOfVersion6) {
  static_assert(sizeof(AGSDX11ReturnedParams) == 48);
  static_assert(offsetof(AGSDX11ReturnedParams, extensionsSupported) == 28);
  static_assert(offsetof(AGSDX11ReturnedParams, breadcrumbBuffer) == 40);
  static_assert(sizeof(AGSDX11ExtensionParams) == 40);
  static_assert(offsetof(AGSDX11ExtensionParams, numBreadcrumbMarkers) == 24);
  static_assert(sizeof(AGSDX11DeviceCreationParams) == 56);
  static_assert(sizeof(AGSBreadcrumbMarker) == 16);
  static_assert(sizeof(AGSDX12ReturnedParams) == 16);
  static_assert(sizeof(AGSDX12DeviceCreationParams) == 32);
  AGSDX11ExtensionsSupported supported{};
  supported.breadcrumbMarkers = 1;
  EXPECT_EQ(1u << 12, std::bit_cast<uint32_t>(supported));
  AGSDX12ExtensionsSupported supported12{};
  supported12.userMarkers = 1;
  EXPECT_EQ(1u << 2, std::bit_cast<uint32_t>(supported12));
}

int ags_allocations = 0;

TEST(AgsInitialize, ChecksTheVersionAndUsesTheCallbacks) {
  AGSContext* ags = nullptr;
  EXPECT_EQ(AGS_CURRENT_VERSION, agsGetVersionNumber());
  EXPECT_EQ(AGS_INVALID_ARGS, agsInitialize(AGS_MAKE_VERSION(5, 4, 2), nullptr, &ags, nullptr));
  EXPECT_EQ(AGS_INVALID_ARGS, agsInitialize(AGS_CURRENT_VERSION, nullptr, nullptr, nullptr));
  EXPECT_EQ(nullptr, ags);

  AGSConfiguration config{};
  config.allocCallback = [](size_t size) {
    ++ags_allocations;
    return std::malloc(size);
  };
  EXPECT_EQ(AGS_INVALID_ARGS, agsInitialize(AGS_CURRENT_VERSION, &config, &ags, nullptr));
  config.freeCallback = [](void* memory) {
    --ags_allocations;
    std::free(memory);
  };
  AGSGPUInfo info{};
  info.numDevices = 9;
  ASSERT_EQ(AGS_SUCCESS, agsInitialize(AGS_CURRENT_VERSION, &config, &ags, &info));
  EXPECT_EQ(0, info.numDevices);
  EXPECT_EQ(1, ags_allocations);
  ASSERT_EQ(AGS_SUCCESS, agsDeInitialize(ags));
  EXPECT_EQ(0, ags_allocations);
}

TEST(AgsNames, AProgramInCFindsThoseOf6_3) {
  EXPECT_EQ(0, CairnTestAgsInC());
}

TEST(AgsNames, EnumeratorsThatStoodInStructsAreTheSame) {
  EXPECT_EQ(AGSTopOfPipe, AGSBreadcrumbMarker::TopOfPipe);
  EXPECT_EQ(AGSBottomOfPipe, AGSBreadcrumbMarker::BottomOfPipe);
  const AGSBreadcrumbMarker::Type type = AGSBreadcrumbMarker::BottomOfPipe;
  EXPECT_EQ(1, static_cast<int>(type));
  EXPECT_EQ(AGSAsicFamily_RDNA3, AGSDeviceInfo::AsicFamily_RDNA3);
  EXPECT_EQ(10, static_cast<int>(AGSAsicFamily_RDNA4));
  EXPECT_EQ(AGSDisplayMode_HDR10_PQ, AGSDisplaySettings::Mode_HDR10_PQ);
  EXPECT_EQ(AGSClipRectExcluded, AGSClipRect::ClipRectExcluded);
}

}  // namespace
}  // namespace cairn
