// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/custom_backend.h"

#include <atomic>
#include <cstring>
#include <string>

#include "app/breadcrumbs/mirror_words.h"

namespace cairn {
namespace {

constexpr uint32_t kMirrorPeriodUs = 500;

class CustomBackend final : public Backend {
 public:
  explicit CustomBackend(const CairnCustomBackend& callbacks) : callbacks_(callbacks) {}

  ~CustomBackend() override {
    if (block_.memory != nullptr) callbacks_.free_block(callbacks_.user_data, &block_);
  }

  Status Initialize(const WordRegion& region, BackendDescription* description) override {
    region_ = region;
    const CairnResult result =
        callbacks_.allocate_block(callbacks_.user_data, region.size_bytes, &block_);
    const bool aligned = reinterpret_cast<uintptr_t>(block_.memory) % 8 == 0;
    if (result != CAIRN_OK || block_.memory == nullptr || !aligned) {
      if (result == CAIRN_OK && !aligned) callbacks_.free_block(callbacks_.user_data, &block_);
      block_.memory = nullptr;
      return Status(StatusCode::kOutOfMemory, "allocate_block gave no memory aligned to 8 for " +
                                                  std::to_string(region.size_bytes) + " bytes");
    }
    std::memcpy(block_.memory, region.base, region.size_bytes);
    description->api = Api::kCustom;
    description->method = WriteMethod::kCustom;
    description->memory = WordMemory::kCallback;
    description->mirror_period_us = kMirrorPeriodUs;
    description->device_name = DeviceInfo();
    description->sources.push_back({"custom write callback", SourceState::kPresent,
                                    "trusted, not verified: it writes when the application's "
                                    "command lists execute"});
    return Status();
  }

  Status BeginList(BackendList& list) override {
    if (!list.reusable) return Status();
    return Status(StatusCode::kUnsupported,
                  "a custom backend cannot count executions of a reusable list; register the list "
                  "again for each submission");
  }

  bool WriteProgress(BackendList& list, WordKind word, PipeLocation where,
                     uint32_t value) override {
    const uint64_t offset = region_.progress_offset + list.slot * sizeof(ProgressWords) +
                            (word == WordKind::kReached ? offsetof(ProgressWords, reached)
                                                        : offsetof(ProgressWords, passed));
    Write(list.native, value, offset, where);
    return true;
  }

  Status WriteRaw(void* native, PipeLocation where, uint32_t index, uint64_t value) override {
    const uint64_t offset = region_.raw_markers_offset + index * sizeof(uint64_t);
    Write(native, static_cast<uint32_t>(value), offset, where);
    Write(native, static_cast<uint32_t>(value >> 32), offset + sizeof(uint32_t), where);
    return Status();
  }

  void ReleaseList(BackendList&) override {}

  void ClearWords(uint32_t slot) override {
    ClearProgressWords(static_cast<std::byte*>(block_.memory) + region_.progress_offset, slot);
  }

  void Mirror() override {
    if (block_.memory != nullptr) {
      MirrorWords(region_, static_cast<const std::byte*>(block_.memory));
    }
  }

 private:
  void Write(void* native, uint32_t value, uint64_t offset, PipeLocation where) {
    callbacks_.write(callbacks_.user_data, native, value, block_.base_address + offset,
                     block_.buffer, where == PipeLocation::kTop);
  }

  std::string DeviceInfo() const {
    if (callbacks_.print_device_info == nullptr) return "custom backend";
    char text[kMaxNameBytes] = {};
    callbacks_.print_device_info(callbacks_.user_data, 1, text, sizeof(text));
    text[sizeof(text) - 1] = 0;
    return text;
  }

  CairnCustomBackend callbacks_;
  CairnCustomBlock block_{};
  WordRegion region_;
};

}  // namespace

std::unique_ptr<Backend> CreateCustomBackend(const CairnCustomBackend& callbacks) {
  return std::make_unique<CustomBackend>(callbacks);
}

}  // namespace cairn
