// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/globals.h"

#include <stdlib.h>

#include <array>
#include <mutex>

#include "app/capture/capture.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/policy.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/call_ring.h"
#include "app/settings/layer_settings.h"
#include "app/settings/log.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constinit std::atomic<BlockWriter*> process_block{nullptr};

void RegisterMethods(BlockWriter& block) {
  static std::array<const char*, kMethodCount> names;
  for (uint32_t i = 0; i < kMethodCount; ++i) names[i] = Describe(static_cast<Method>(i)).name;
  const uint32_t first = block.RegisterFunctions(names);
  if (first != BlockWriter::kTableFull) {
    first_method.store(first, std::memory_order_relaxed);
  }
}

void MakeBlock() {
  Result<BlockWriter*> block = BlockWriter::OfThisProcess(kDefaultBlockBytes);
  if (!block.ok()) {
    Log(LogLevel::kError, "nothing is recorded of this program: " + block.status().message());
    return;
  }
  RegisterMethods(**block);
  process_block.store(*block, std::memory_order_release);
  CallRing::SetBlock(*block);
}

void StartCapture() {
  const CaptureSettings& asked = Settings().capture;
  if (!asked.on || Capture::Active() != nullptr) return;
  CaptureOptions options;
  options.start_frame = asked.start_frame;
  options.stop_frame = asked.stop_frame;
  options.armed = asked.armed;
  options.hash_frames = asked.hash_frames;
  options.hash_resources = asked.hash_resources;
  const Status status = Capture::Start(options);
  if (!status.ok()) {
    Log(LogLevel::kError, "nothing is captured: " + status.message());
    return;
  }
  atexit(EndCapturedFrames);
}

}  // namespace

constinit std::atomic<uint32_t> first_method{0};

BlockWriter* ProcessBlock() {
  return process_block.load(std::memory_order_acquire);
}

void StartRecording() {
  static std::once_flag once;
  std::call_once(once, [] {
    MakeBlock();
    StartCapture();
  });
}

std::string_view NameOf(Chain chain) {
  return Describe(chain).first->name;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
