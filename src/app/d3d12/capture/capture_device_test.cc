// SPDX-License-Identifier: Apache-2.0
//
// Facts of a device in the trace.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/layer.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"
#include "format/calls/recorded_device.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// The setting is read once in a process: one test.
TEST(CaptureDevice, HasTheLuidOfItsAdapter) {
  SetVariable("CAIRN_CAPTURE", "on");
  TestWatcher watcher;
  ComPtr<ID3D12Device> device;
  *device.Receive() = WrapDevice(CreateFakeDevice(), {});
  const std::vector<TestRecord> records = watcher.Finish();
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records[0].header.kind, RecordKind::kDevice);
  Record record;
  record.body = records[0].body;
  const Result<RecordedDevice> recorded = DecodeDevice(record);
  ASSERT_TRUE(recorded.ok()) << recorded.status().message();
  EXPECT_EQ(recorded->adapter_luid,
            uint64_t{static_cast<uint32_t>(kFakeLuidHigh)} << 32 | kFakeLuidLow);
  // It stands on no Vulkan device, and DXGI does not know it.
  EXPECT_EQ(recorded->adapter_place, std::nullopt);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
