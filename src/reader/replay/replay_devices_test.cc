// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/replay_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/testing/leaks_are_meant.h"
#include "d3d12abi/testing/fake_device.h"

namespace cairn {
namespace {

using testing::HasSubstr;

constexpr uint64_t kDevice = 1, kOther = 2;

ComPtr<ID3D12Device> NewDevice() {
  ComPtr<ID3D12Device> device;
  *device.Receive() = CreateNewerFakeDevice();
  return device;
}

void RemoveDevice(DeviceContext* context) {
  ComPtr<ID3D12Device5> newer;
  ASSERT_EQ(context->device->QueryInterface(__uuidof(ID3D12Device5), newer.Receive()), S_OK);
  newer->RemoveDevice();
}

class ReplayDevicesTest : public testing::Test {
 protected:
  PlayerOptions options_;
  PlayLog log_{options_};
  ReplayDevices devices_{options_, &log_};
};

TEST_F(ReplayDevicesTest, LossEndsThePlaybackAtItsEnd) {
  DeviceContext* const context = devices_.Add(kDevice, NewDevice());
  devices_.Add(kOther, NewDevice());
  EXPECT_TRUE(devices_.CheckLosses().ok());
  EXPECT_FALSE(devices_.any_lost());
  RemoveDevice(context);
  log_.Begin(7);
  EXPECT_TRUE(devices_.CheckLosses().ok());
  EXPECT_TRUE(context->lost);
  EXPECT_FALSE(devices_.Find(kOther)->lost);
  EXPECT_TRUE(devices_.IsLost(kDevice));
  EXPECT_FALSE(devices_.IsLost(kOther));
  // The first reason counts, and where it was met.
  log_.Begin(8);
  EXPECT_TRUE(devices_.Lose(context, "it is lost again").ok());
  EXPECT_FALSE(log_.failed());
  const Status status = devices_.Judge();
  EXPECT_EQ(status.code(), StatusCode::kDeviceLost);
  EXPECT_THAT(status.message(),
              HasSubstr("record 7: the device is lost: GetDeviceRemovedReason says 0x887A0005"));
  EXPECT_EQ(log_.failure(), PlayerFailure::kLost);
  EXPECT_EQ(log_.failed_call(), 7u);
}

TEST_F(ReplayDevicesTest, LossOfTheRecordingIsNone) {
  DeviceContext* const context = devices_.Add(kDevice, NewDevice());
  EXPECT_TRUE(devices_.Lose(context, "a copy did not end").ok());
  EXPECT_FALSE(devices_.IsLossRecorded(kDevice));
  devices_.RecordLoss(kOther);
  EXPECT_FALSE(devices_.Judge().ok());
  devices_.RecordLoss(kDevice);
  EXPECT_TRUE(devices_.IsLossRecorded(kDevice));
  EXPECT_TRUE(devices_.Judge().ok());
}

TEST_F(ReplayDevicesTest, LossEndsASearchAtOnce) {
  options_.canary = true;
  DeviceContext* const context = devices_.Add(kDevice, NewDevice());
  RemoveDevice(context);
  log_.Begin(9);
  EXPECT_EQ(devices_.CheckLoss(context).code(), StatusCode::kDeviceLost);
  EXPECT_EQ(log_.failure(), PlayerFailure::kLost);
  EXPECT_EQ(log_.failed_call(), 9u);
}

TEST_F(ReplayDevicesTest, LostDeviceIsNeverReleased) {
  const int before = FakeObjectCount();
  devices_.Add(kDevice, NewDevice());
  EXPECT_FALSE(devices_.Remove(kDevice));
  EXPECT_EQ(FakeObjectCount(), before);
  EXPECT_EQ(devices_.Find(kDevice), nullptr);
  EXPECT_FALSE(devices_.Remove(kDevice));
  const LeaksAreMeant meant;
  DeviceContext* const context = devices_.Add(kDevice, NewDevice());
  EXPECT_TRUE(devices_.Lose(context, "it hangs").ok());
  EXPECT_TRUE(devices_.Remove(kDevice));
  EXPECT_EQ(FakeObjectCount(), before + 1);
  context->device = {};  // for the tests that count
}

TEST_F(ReplayDevicesTest, OwnQueueIsMadeOnce) {
  DeviceContext* const context = devices_.Add(kDevice, NewDevice());
  const int before = FakeObjectCount();
  const Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  ASSERT_TRUE(queue.ok()) << queue.status().message();
  EXPECT_EQ(*context->OwnQueue(), *queue);
  EXPECT_EQ(FakeObjectCount(), before + 1);
}

}  // namespace
}  // namespace cairn
