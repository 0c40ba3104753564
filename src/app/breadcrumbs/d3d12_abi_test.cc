// SPDX-License-Identifier: Apache-2.0
//
// The backend with the convention of the device that it is given. Compiled once for each; the fake
// device lies in this program, like an implementation that nobody has heard of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/breadcrumbs/d3d12_backend.h"
#include "app/breadcrumbs/d3d12_selftest.h"
#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/breadcrumbs/driver_half.h"
#include "app/breadcrumbs/testing/test_context_desc.h"
#include "base/testing/leaks_are_meant.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"

// Behind those of Direct3D, whose convention it tells.
#include "app/breadcrumbs/d3d12_abi.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr D3D12Abi kThisAbi = kThisD3D12Abi;

class D3D12AbiTest : public testing::Test {
 protected:
  static ComPtr<ID3D12Device> MakeDevice() {
    ComPtr<ID3D12Device> device(CreateFakeDevice());
    device->Release();
    return device;
  }
  static void SetUpTestSuite() {
    const ComPtr<ID3D12Device> device = MakeDevice();
    // If the library does not tell its convention, the platform's own one is assumed.
    EXPECT_EQ(AbiOfDevice(device.get()), D3D12Abi::kSystemV);
    if (kThisAbi == D3D12Abi::kMicrosoft) {
      NoteLayerVtable(*reinterpret_cast<void**>(device.get()), kThisAbi);
    }
  }
  void SetUp() override {
    device_ = MakeDevice();
    block_ = std::move(BlockWriter::Create(kMinBlockBytes).value());
  }

  std::string Name(NameRef ref) const {
    return std::string(block_->Name(ref)->bytes, block_->Name(ref)->length_bytes);
  }

  ComPtr<ID3D12Device> device_;
  std::unique_ptr<BlockWriter> block_;
};

TEST_F(D3D12AbiTest, DeviceIsRecognised) {
  EXPECT_EQ(AbiOfDevice(device_.get()), kThisAbi);
  EXPECT_EQ(FindLayerDevice(device_.get()), nullptr);
}

TEST_F(D3D12AbiTest, WordsOfAListArrive) {
  const int objects_before = FakeObjectCount();
  Result<Context*> created = Context::Create(TestContextDesc(CAIRN_MODE_FULL, 16, 4), block_.get(),
                                             CreateD3D12Backend(device_.get()));
  ASSERT_TRUE(created.ok()) << created.status().message();
  Context& context = **created;
  const ContextRecord& record = block_->contexts()[0];
  EXPECT_EQ(record.method, WriteMethod::kD3D12CopyBufferRegion);
  EXPECT_EQ(record.memory, WordMemory::kMirrored);
  // An aggregate that the device returned.
  EXPECT_THAT(Name(record.driver_name), testing::HasSubstr("adapter LUID 0abcdef0:12345678"));
  EXPECT_THAT(Name(record.driver_name), testing::HasSubstr("feature level 12_0"));
  {
    D3D12Submitter submitter;
    ASSERT_TRUE(submitter.Create(device_.get(), D3D12_COMMAND_LIST_TYPE_COMPUTE).ok());
    Result<ID3D12GraphicsCommandList*> native = submitter.Begin();
    ASSERT_TRUE(native.ok());
    CairnCommandListDesc desc{};
    desc.native = *native;
    desc.queue_type = CAIRN_QUEUE_COMPUTE;
    CommandList* list = nullptr;
    ASSERT_TRUE(context.BeginCommandList(desc, &list).ok());
    for (int i = 0; i < 3; ++i) {
      list->BeginWork(CAIRN_MARKER_DISPATCH);
      list->EndWork();
    }
    EXPECT_EQ(list->End(), CAIRN_OK);
    EXPECT_TRUE(context.WriteRaw(*native, PipeLocation::kBottom, 2, 0x1122334455667788).ok());
    ASSERT_TRUE(submitter.Submit().ok());
    ASSERT_TRUE(submitter.Wait(std::chrono::milliseconds(1000)).ok());
    context.Mirror();
    EXPECT_TRUE(list->ProvenFinished());
    EXPECT_EQ(context.raw_markers()[2], 0x1122334455667788u);
    EXPECT_EQ(context.raw_markers()[1], kRawMarkerUnwritten);
  }
  Context::Destroy(&context);
  EXPECT_EQ(FakeObjectCount(), objects_before);
}

TEST_F(D3D12AbiTest, HeldDeviceIsCounted) {
  const auto count = [this] {
    device_->AddRef();
    return device_->Release();
  };
  const ULONG before = count();
  const Context::Hold hold = HoldDevice(device_.get());
  EXPECT_EQ(count(), before + 1);
  hold.release(hold.object);
  EXPECT_EQ(count(), before);
}

// The GPU never comes to an end. What it may still be using is left behind.
TEST_F(D3D12AbiTest, ASelfTestThatIsNotFinishedInTimeEnds) {
  EXPECT_EQ(kD3D12SelfTestLimit, std::chrono::seconds(10));
  const LeaksAreMeant left_behind;
  HoldFakeSignals(true);
  const Result<D3D12SelfTestReport> report =
      RunD3D12SelfTest(device_.get(), std::chrono::milliseconds(20));
  HoldFakeSignals(false);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kDeviceLost);
  EXPECT_THAT(report.status().message(),
              testing::AllOf(testing::HasSubstr("direct queue"),
                             testing::HasSubstr("shows 0 instead of 1 after 20 ms")));
}

// ---- The Vulkan layer as a driver, as far as it can be without Vulkan ----------------------------

class FakeDriver final : public DriverHalf {
 public:
  CAIRN_LINUX_CALL const char* WhyNot(const DriverBuffer&, WriteMethod method) const override {
    return method == WriteMethod::kDriverBufferMarker && !has_markers ? "no markers" : "";
  }
  CAIRN_LINUX_CALL DriverWrite Write(const DriverList&, const DriverBuffer&, WriteMethod method,
                                     PipeLocation, uint64_t offset_bytes, uint32_t value) override {
    methods.push_back(method);
    if (written != nullptr) written[offset_bytes / sizeof(value)] = value;
    return result;
  }
  CAIRN_LINUX_CALL uint8_t Drains(const DriverList&, WriteMethod) const override { return 0; }
  CAIRN_LINUX_CALL bool Serialises(const void*) const override { return false; }
  CAIRN_LINUX_CALL bool Serial(const DriverList&) const override { return false; }
  CAIRN_LINUX_CALL bool NoteWords(const void*, const std::byte*) override { return true; }
  CAIRN_LINUX_CALL void ForgetWords(const void*, const std::byte*) override {}
  CAIRN_LINUX_CALL void DescribeWitnesses(const void*, WriteMethod, DriverFinding*) const override {
  }
  CAIRN_LINUX_CALL void DescribeLoss(const void*, DriverFinding*) const override {}

  bool has_markers = true;
  uint32_t* written = nullptr;  // the memory of every buffer
  DriverWrite result = DriverWrite::kRecorded;
  std::vector<WriteMethod> methods;
};

D3D12SelfTestReport ReportOfAnotherDevice() {
  D3D12SelfTestReport report;
  report.methods.fill(WriteMethod::kD3D12CopyBufferRegion);
  report.driver_methods = {WriteMethod::kNone, WriteMethod::kDriverBufferMarker,
                           WriteMethod::kDriverFillBuffer};
  return report;
}

TEST_F(D3D12AbiTest, DriverMethodsThatThisDeviceDoesNotHaveAreDropped) {
  FakeDriver driver;
  const DriverBuffer buffer{&driver, 1};
  D3D12SelfTestReport report = ReportOfAnotherDevice();
  DropMissingDriverMethods(&driver, buffer, &report);
  EXPECT_EQ(report.driver_methods, ReportOfAnotherDevice().driver_methods);
  driver.has_markers = false;
  DropMissingDriverMethods(&driver, buffer, &report);
  EXPECT_THAT(report.driver_methods, testing::ElementsAre(WriteMethod::kNone, WriteMethod::kNone,
                                                          WriteMethod::kDriverFillBuffer));
  DropMissingDriverMethods(&driver, DriverBuffer(), &report);
  EXPECT_EQ(report.method(), WriteMethod::kD3D12CopyBufferRegion);
  report = ReportOfAnotherDevice();
  DropMissingDriverMethods(nullptr, buffer, &report);
  EXPECT_EQ(report.method(), WriteMethod::kD3D12CopyBufferRegion);
}

TEST_F(D3D12AbiTest, DevicesThatDifferBelowAreTestedEach) {
  FakeDriver driver;
  FakeDriver without_markers;
  without_markers.has_markers = false;
  const DriverBuffer buffer{&driver, 1};
  const std::string keys[] = {DriverMethodsOf(driver, buffer),
                              DriverMethodsOf(without_markers, buffer),
                              DriverMethodsOf(driver, DriverBuffer())};
  EXPECT_NE(keys[0], keys[1]);
  EXPECT_NE(keys[1], keys[2]);
  EXPECT_NE(keys[0], keys[2]);
  EXPECT_EQ(keys[0], DriverMethodsOf(driver, buffer));
}

TEST_F(D3D12AbiTest, OnlyAWriteThatArrivesConfirmsTheDriversBuffer) {
  FakeDriver driver;
  const DriverBuffer buffer{&driver, 1};
  const D3D12SelfTestReport report = ReportOfAnotherDevice();
  alignas(8) uint32_t words[2] = {7, 8};
  alignas(8) uint32_t elsewhere[2] = {};
  const auto arrives = [&](const D3D12SelfTestReport& methods) {
    const Result<bool> result = DriverWriteArrives(device_.get(), driver, buffer, methods,
                                                   reinterpret_cast<std::byte*>(words));
    EXPECT_TRUE(result.ok()) << result.status().message();
    EXPECT_THAT(words, testing::ElementsAre(7u, 8u)) << "as before";
    return result.ok() && *result;
  };
  driver.written = words;
  EXPECT_TRUE(arrives(report));
  driver.written = elsewhere;
  EXPECT_FALSE(arrives(report));
  EXPECT_NE(elsewhere[0], 0u);
  driver.written = nullptr;
  driver.result = DriverWrite::kRefused;
  EXPECT_FALSE(arrives(report));
  EXPECT_THAT(driver.methods, testing::Each(WriteMethod::kDriverBufferMarker));
  EXPECT_EQ(driver.methods.size(), 3u);
  EXPECT_FALSE(arrives(D3D12SelfTestReport()));
  EXPECT_EQ(driver.methods.size(), 3u);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
