// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/driver_half.h"

#include <atomic>
#include <cstddef>
#include <string_view>
#include <utility>

namespace cairn {
namespace {

// Sizes must equal those of the other system's compiler.
static_assert(sizeof(DriverBuffer) == 16 && sizeof(DriverList) == 16);
static_assert(sizeof(DriverFinding) == 516 && sizeof(SourceState) == 4 && sizeof(WriteMethod) == 4);
static_assert(sizeof(DriverWrite) == 4 && sizeof(PipeLocation) == 1);
static_assert(sizeof(DeviceSeenScope) == 16 && sizeof(ListOpenScope) == 32);
static_assert(sizeof(ExpectedBufferScope) == 240 && sizeof(DriverScopes) == 56);
static_assert(sizeof(RawMarkerScope) == 32 && sizeof(PipelineCode) == 72);

constinit std::atomic<DriverHalf*> driver_half{nullptr};

constexpr char kNotSeen[] =
    "the Vulkan layer (VK_LAYER_CAIRN_breadcrumbs) did not see the buffer's creation";

SourceFinding SourceOf(const DriverFinding& finding) {
  return {finding.name.data(), finding.state, finding.reason.data()};
}

template <size_t size>
void CopyText(std::string_view text, std::array<char, size>* place) {
  (*place)[text.copy(place->data(), size - 1)] = 0;
}

}  // namespace

DriverHalf* GetDriverHalf() {
  if (const LinuxHalf* const half = FindLinuxHalf()) {
    return static_cast<DriverHalf*>(half->Driver());
  }
  return driver_half.load(std::memory_order_acquire);
}

void SetDriverHalf(DriverHalf* half) {
  driver_half.store(half, std::memory_order_release);
}

DriverScopes& ThreadDriverScopes() {
  if (const LinuxHalf* const half = FindLinuxHalf()) {
    return *static_cast<DriverScopes*>(half->ThreadScopes());
  }
  static constinit thread_local DriverScopes scopes;
  return scopes;
}

DriverFinding DriverFindingOf(const SourceFinding& source) {
  DriverFinding finding;
  CopyText(source.name, &finding.name);
  CopyText(source.reason, &finding.reason);
  finding.state = source.state;
  return finding;
}

SourceFinding DriverHalf::WitnessSource(const void* device, WriteMethod method) const {
  DriverFinding finding;
  DescribeWitnesses(device, method, &finding);
  return SourceOf(finding);
}

SourceFinding DriverHalf::LossSource(const void* device) const {
  DriverFinding finding;
  DescribeLoss(device, &finding);
  return SourceOf(finding);
}

DeviceCreationScope::DeviceCreationScope() : before_(ThreadDriverScopes().driven_devices) {
  ++ThreadDriverScopes().creating_devices;
}

DeviceCreationScope::~DeviceCreationScope() {
  --ThreadDriverScopes().creating_devices;
}

bool DeviceCreationScope::Active() {
  return ThreadDriverScopes().creating_devices != 0;
}

bool DeviceCreationScope::seen() const {
  return ThreadDriverScopes().driven_devices != before_;
}

void DeviceCreationScope::Note() {
  ++ThreadDriverScopes().driven_devices;
}

LabelledDeviceScope::LabelledDeviceScope() : before_(ThreadDriverScopes().labelled_devices) {}

bool LabelledDeviceScope::seen() const {
  return ThreadDriverScopes().labelled_devices != before_;
}

void LabelledDeviceScope::Note() {
  ++ThreadDriverScopes().labelled_devices;
}

DeviceSeenScope::DeviceSeenScope()
    : outer_(std::exchange(ThreadDriverScopes().seen_device, this)) {}

DeviceSeenScope::~DeviceSeenScope() {
  ThreadDriverScopes().seen_device = outer_;
}

void DeviceSeenScope::Note(const void* device) {
  DeviceSeenScope* const scope = ThreadDriverScopes().seen_device;
  if (scope != nullptr && scope->device_ == nullptr) scope->device_ = device;
}

ExpectedBufferScope::ExpectedBufferScope(std::byte* base, size_t size_bytes)
    : outer_(std::exchange(ThreadDriverScopes().expected_buffer, this)),
      base_(base),
      size_bytes_(size_bytes) {
  NoteRefusal(kNotSeen);
}

ExpectedBufferScope::~ExpectedBufferScope() {
  ThreadDriverScopes().expected_buffer = outer_;
}

ExpectedBufferScope* ExpectedBufferScope::Current() {
  return ThreadDriverScopes().expected_buffer;
}

ListOpenScope::ListOpenScope() : outer_(std::exchange(ThreadDriverScopes().opening_list, this)) {}

ListOpenScope::~ListOpenScope() {
  ThreadDriverScopes().opening_list = outer_;
}

ListOpenScope* ListOpenScope::Current() {
  return ThreadDriverScopes().opening_list;
}

RawMarkerScope::RawMarkerScope(uint32_t count, uint32_t own_count)
    : outer_(std::exchange(ThreadDriverScopes().raw_markers, this)),
      count_(count),
      own_count_(own_count) {}

RawMarkerScope::~RawMarkerScope() {
  ThreadDriverScopes().raw_markers = outer_;
}

RawMarkerScope* RawMarkerScope::Current() {
  return ThreadDriverScopes().raw_markers;
}

PipelineCodeScope::PipelineCodeScope(const PipelineCode& code)
    : outer_(std::exchange(ThreadDriverScopes().pipeline_code, &code)) {}

PipelineCodeScope::~PipelineCodeScope() {
  ThreadDriverScopes().pipeline_code = outer_;
}

uint64_t PipelineCodeScope::CodeOf(ShaderStage stage) {
  const PipelineCode* const code = ThreadDriverScopes().pipeline_code;
  return code == nullptr ? 0 : (*code)[stage];
}

}  // namespace cairn
