// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/globals.h"

#include <stdlib.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "app/capture/capture.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/policy.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/call_ring.h"
#include "app/settings/log.h"
#include "app/settings/own_settings.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constinit std::atomic<BlockWriter*> process_block{nullptr};

ArgumentKind KindOf(const ParameterInfo& parameter) {
  if (parameter.pointers != 0) return ArgumentKind::kPointer;
  switch (parameter.kind) {
    case ValueKind::kBool:
    case ValueKind::kUnsigned:
    case ValueKind::kEnum:
    case ValueKind::kFlags: return ArgumentKind::kUnsigned;
    case ValueKind::kSigned: return ArgumentKind::kSigned;
    case ValueKind::kFloat:
      return parameter.size_bytes == sizeof(float) ? ArgumentKind::kFloat : ArgumentKind::kOther;
    case ValueKind::kGpuAddress: return ArgumentKind::kGpuAddress;
    case ValueKind::kGpuDescriptor: return ArgumentKind::kGpuDescriptor;
    case ValueKind::kObject:
    case ValueKind::kString:
    case ValueKind::kWideString:
    case ValueKind::kHandle:
    case ValueKind::kCpuDescriptor:
    case ValueKind::kCallback: return ArgumentKind::kPointer;
    case ValueKind::kStruct:
    case ValueKind::kGuid:
    case ValueKind::kBytes: break;
  }
  return ArgumentKind::kOther;
}

// Format of FunctionTable, with the parameters whose arguments are kept.
std::string Signature(const MethodInfo& method) {
  std::string text = method.name;
  const auto kept =
      method.parameters.first(std::min<size_t>(method.parameters.size(), kArgumentsPerCall));
  for (const ParameterInfo& parameter : kept) {
    text += &parameter == kept.data() ? '(' : ',';
    text += parameter.name;
    text += ':';
    text += static_cast<char>(KindOf(parameter));
  }
  return kept.empty() ? text : text + ')';
}

void RegisterMethods(BlockWriter& block) {
  std::vector<std::string> signatures;
  std::vector<const char*> names;
  signatures.reserve(kMethodCount);
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    names.push_back(signatures.emplace_back(Signature(Describe(static_cast<Method>(i)))).c_str());
  }
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
  const CaptureSettings& asked = *Settings().capture;
  if (!asked.on || Capture::Active() != nullptr) return;
  const Status status = Capture::Start(asked);
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
