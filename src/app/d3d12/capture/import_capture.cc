// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/import_capture.h"

#include <new>
#include <utility>

#include "d3d12abi/aggregates.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {
thread_local const Import* current_import = nullptr;
thread_local bool* current_recorded = nullptr;

// The bytes of a name, without its end; "" for null.
std::string NameBytes(const void* name, uint32_t wchar_bytes) {
  constexpr size_t kMostBytes = 1024;
  const auto* const bytes = static_cast<const char*>(name);
  size_t size = 0;
  const char zeros[sizeof(uint32_t)] = {};
  if (bytes == nullptr || wchar_bytes == 0 || wchar_bytes > sizeof(zeros)) return "";
  while (size < kMostBytes && std::memcmp(bytes + size, zeros, wchar_bytes) != 0) {
    size += wchar_bytes;
  }
  return std::string(bytes, size);
}
}  // namespace

ImportScope::ImportScope(const Import& import)
    : import_(import), outer_import_(current_import), outer_recorded_(current_recorded) {
  current_import = &import_;
  current_recorded = &recorded_;
}

ImportScope::~ImportScope() {
  current_import = outer_import_;
  current_recorded = outer_recorded_;
}

void ImportScope::NoteRecorded() {
  if (current_recorded != nullptr) *current_recorded = true;
}

std::optional<Import> ImportScope::Current() {
  return current_import == nullptr ? std::nullopt : std::optional(*current_import);
}

ImportFacts FactsOf(const Import& import) {
  ImportFacts facts = {};
  facts.source = static_cast<uint32_t>(import.source);
  facts.place = import.place;
  facts.original = import.original;
  return facts;
}

ImportFacts FactsOf(const Import& import, ID3D12Heap* real) {
  const D3D12_HEAP_DESC desc = GetDesc(real);
  ImportFacts facts = FactsOf(import);
  facts.heap_type = desc.Properties.Type;
  facts.cpu_page_property = desc.Properties.CPUPageProperty;
  facts.memory_pool = desc.Properties.MemoryPoolPreference;
  facts.heap_flags = desc.Flags;
  facts.value = desc.SizeInBytes;
  facts.alignment_bytes = desc.Alignment;
  return facts;
}

ImportFacts FactsOf(const Import& import, ID3D12Fence* real) {
  ImportFacts facts = FactsOf(import);
  facts.value = real->GetCompletedValue();
  return facts;
}

// ---- Handles ----

SharedHandles& SharedHandles::Get() {
  static SharedHandles& handles = *new SharedHandles;
  return handles;
}

void SharedHandles::Created(HANDLE handle, const void* name, uint32_t wchar_bytes,
                            uint64_t object) try {
  const std::lock_guard lock(mutex_);
  handles_.erase(HandleValue(handle));
  if (handles_.size() >= kMost) handles_.clear();
  if (names_.size() >= kMost) names_.clear();
  handles_[HandleValue(handle)] = object;
  if (std::string bytes = NameBytes(name, wchar_bytes); !bytes.empty()) {
    names_[std::move(bytes)] = object;
  }
} catch (const std::bad_alloc&) {
  // The handle stands for an unknown object.
}

void SharedHandles::Opened(HANDLE handle, const void* name, uint32_t wchar_bytes) try {
  const std::lock_guard lock(mutex_);
  handles_.erase(HandleValue(handle));
  const auto found = names_.find(NameBytes(name, wchar_bytes));
  if (handles_.size() >= kMost) handles_.clear();
  handles_[HandleValue(handle)] = found == names_.end() ? 0 : found->second;
} catch (const std::bad_alloc&) {
  // The handle stands for an unknown object.
}

uint64_t SharedHandles::Find(HANDLE handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(HandleValue(handle));
  return found == handles_.end() ? 0 : found->second;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
