// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/import_capture.h"

#include "d3d12abi/aggregates.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {
thread_local const Import* current_import = nullptr;
}  // namespace

ImportScope::ImportScope(const Import& import) : import_(import) {
  current_import = &import_;
}

ImportScope::~ImportScope() {
  current_import = nullptr;
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

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
