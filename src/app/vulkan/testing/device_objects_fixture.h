// SPDX-License-Identifier: Apache-2.0
//
// For tests: a device with breadcrumbs whose next layer is the test, and a look at its block.
#ifndef CAIRN_APP_VULKAN_TESTING_DEVICE_OBJECTS_FIXTURE_H_
#define CAIRN_APP_VULKAN_TESTING_DEVICE_OBJECTS_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/testing/simulated_gpu.h"
#include "app/breadcrumbs/testing/test_context_desc.h"
#include "app/vulkan/command_buffer.h"
#include "app/vulkan/device_creation.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/testing/own_functions.h"

namespace cairn {

// Handles as drivers make them: addresses.
template <typename Handle>
Handle TestHandle(uint64_t number) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number * 0x100));
}

struct SeenSync {
  SyncKind kind;
  uint32_t flags;
  uint32_t queue;
  uint64_t submission;
  uint64_t handle;
  uint64_t value;
  bool operator==(const SeenSync&) const = default;
};
inline void PrintTo(const SeenSync& sync, std::ostream* out) {
  *out << (sync.kind == SyncKind::kWait ? "wait" : "signal") << " flags " << sync.flags << " queue "
       << sync.queue << " submission " << sync.submission << " handle " << std::hex << sync.handle
       << std::dec << " value " << sync.value;
}

struct SeenSubmission {
  uint32_t queue;
  uint64_t number;
  uint64_t recording_id;
  bool operator==(const SeenSubmission&) const = default;
};
inline void PrintTo(const SeenSubmission& submission, std::ostream* out) {
  *out << "queue " << submission.queue << " submission " << submission.number << " recording "
       << submission.recording_id;
}

struct SeenObject {
  uint32_t type;
  uint64_t handle;
  ObjectState state;
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  bool operator==(const SeenObject&) const = default;
};
inline void PrintTo(const SeenObject& object, std::ostream* out) {
  *out << "type " << object.type << " handle " << std::hex << object.handle << std::dec << " state "
       << static_cast<uint32_t>(object.state) << " \"" << object.name << "\" at " << object.address
       << "+" << object.size;
}

class DeviceObjectsTest : public testing::Test {
 protected:
  static constexpr uint64_t kBlockBytes = kMinLayerBlockBytes;

  ~DeviceObjectsTest() override {
    if (device_ != nullptr) End();
  }

  // The test fills in `device_->vk` and what else it needs, then calls Start.
  void Prepare() {
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kBlockBytes);
    ASSERT_TRUE(block.ok());
    block_ = std::move(*block);
    const CairnContextDesc desc = TestContextDesc(CAIRN_MODE_TOP, 64, 0);
    Result<Context*> context =
        Context::Create(desc, block_.get(), std::make_unique<SimulatedBackend>());
    ASSERT_TRUE(context.ok()) << context.status().message();
    instance_.handle = TestHandle<VkInstance>(1);
    device_ = std::make_unique<DeviceState>();
    device_->handle = TestHandle<VkDevice>(2);
    device_->instance = &instance_;
    device_->kind = DeviceKind::kBreadcrumbs;
    device_->block = block_.get();
    device_->context = *context;
    for (uint64_t i = 0; i < 2; ++i) {
      auto queue = std::make_unique<QueueState>();
      queue->handle = TestHandle<VkQueue>(3 + i);
      queue->device = device_.get();
      queue->type = CAIRN_QUEUE_DIRECT;
      device_->queues.push_back(std::move(queue));
    }
  }
  void Start() {
    ASSERT_TRUE(RememberDevice(*device_));
    ASSERT_TRUE(RememberQueues(*device_));
    device_->objects = MakeDeviceObjects(*device_);
  }
  void End() {
    device_->objects.reset();
    for (const std::unique_ptr<CommandBufferState>& buffer : buffers_) {
      command_buffers.Erase(buffer->handle);
    }
    Context::Destroy(device_->context);
    ForgetDevice(*device_);
    device_.reset();
  }

  VkDevice device() const { return device_->handle; }
  VkQueue queue(size_t index = 0) const { return device_->queues[index]->handle; }
  DeviceObjects& objects() const { return *device_->objects; }

  // The layer's functions.
  static const DeviceFunctions& ours() { return FunctionsOf<ObjectIntercepts>(); }

  // A command buffer with a recording; `number` makes its handle.
  VkCommandBuffer Record(uint64_t number) {
    auto state = std::make_unique<CommandBufferState>();
    state->handle = TestHandle<VkCommandBuffer>(number);
    state->device = device_.get();
    natives_.push_back(std::make_unique<SimulatedList>());
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.flags = CAIRN_LIST_HELD;
    desc.native = natives_.back().get();
    EXPECT_TRUE(device_->context->BeginCommandList(desc, &state->list).ok());
    EXPECT_EQ(state->list->End(), CAIRN_OK);
    EXPECT_TRUE(command_buffers.Set(state->handle, state.get()));
    buffers_.push_back(std::move(state));
    return buffers_.back()->handle;
  }
  uint64_t RecordingId(VkCommandBuffer buffer) const {
    return CommandBufferOf(buffer)->list->slot()->recording_id;
  }

  std::vector<SeenSync> Syncs() const {
    std::vector<SeenSync> seen;
    const auto* const ring =
        reinterpret_cast<const SyncRecord*>(block_->data() + block_->header()->syncs_offset);
    for (uint64_t i = 0; i < block_->header()->sync_serial.load(); ++i) {
      const SyncRecord& record = ring[i];
      EXPECT_EQ(record.serial.load(), i + 1);
      EXPECT_EQ(record.context, device_->context->index());
      EXPECT_NE(record.time_ns, 0u);
      seen.push_back({record.kind, record.flags, record.queue, record.submission_number,
                      record.native_handle, record.value});
    }
    return seen;
  }
  std::vector<SeenSubmission> Submissions() const {
    std::vector<SeenSubmission> seen;
    const auto* const ring = reinterpret_cast<const SubmissionRecord*>(
        block_->data() + block_->header()->submissions_offset);
    for (uint64_t i = 0; i < block_->header()->submission_serial.load(); ++i) {
      seen.push_back({ring[i].queue, ring[i].submission_number, ring[i].recording_id});
    }
    return seen;
  }
  const QueueRecord& Queue(size_t index = 0) const {
    return block_->queues()[objects().queues()[index]->record];
  }
  uint64_t Submitted(size_t index = 0) const { return Queue(index).submission_count.load(); }
  uint64_t Completed(size_t index = 0) const { return Queue(index).completed_submission.load(); }
  const ContextRecord& context_record() const {
    return block_->contexts()[device_->context->index()];
  }

  std::vector<SeenObject> Objects() const {
    std::vector<SeenObject> seen;
    for (uint32_t i = 0; i < block_->header()->object_count.load(); ++i) {
      const ObjectRecord& record = *block_->objects().Find(i);
      EXPECT_NE(record.kind & kVulkanObject, 0u);
      seen.push_back({record.kind & ~kVulkanObject, record.native_handle,
                      static_cast<ObjectState>(record.state.load()),
                      std::string(record.name, record.name_length.load() & ~kObjectNameCut),
                      record.gpu_address, record.size_bytes});
      if (seen.back().state == ObjectState::kDestroyed) {
        EXPECT_GE(record.destroyed_ns.load(), record.created_ns);
      }
    }
    return seen;
  }
  std::string Name(NameRef ref) const {
    return ref == 0 ? "" : std::string(block_->Name(ref)->bytes, block_->Name(ref)->length_bytes);
  }

  std::unique_ptr<BlockWriter> block_;
  InstanceState instance_;
  std::unique_ptr<DeviceState> device_;
  std::vector<std::unique_ptr<SimulatedList>> natives_;
  std::vector<std::unique_ptr<CommandBufferState>> buffers_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_TESTING_DEVICE_OBJECTS_FIXTURE_H_
