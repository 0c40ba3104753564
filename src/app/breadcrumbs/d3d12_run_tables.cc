// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_run_tables.h"

#include <utility>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

D3D12RunTable* D3D12RunTables::Take() {
  const std::lock_guard lock(mutex_);
  if (free_ == nullptr && !AddBlock()) return nullptr;
  D3D12RunTable* table = std::exchange(free_, free_->next_free);
  table->next_free = nullptr;
  for (uint32_t i = 0; i < kRunModulus; ++i) table->values[i] = (i + 1) % kRunModulus;
  return table;
}

void D3D12RunTables::GiveBack(D3D12RunTable* table) {
  if (table == nullptr) return;
  const std::lock_guard lock(mutex_);
  table->next_free = std::exchange(free_, table);
}

bool D3D12RunTables::AddBlock() {
  constexpr size_t kBytes = kTablesPerBlock * kRunTableBytes;
  Result<D3D12MappedBuffer> table = CreateMappedBuffer(device_, MappedHeap::kWriteBack, kBytes);
  Result<ComPtr<ID3D12Resource>> scratch = CreateDeviceBuffer(device_, kBytes);
  if (!table.ok() || !scratch.ok()) return false;
  auto block = std::make_unique<Block>();
  block->table = std::move(*table);
  block->scratch = std::move(*scratch);
  for (size_t i = kTablesPerBlock; i-- > 0;) {
    D3D12RunTable& entry = block->tables[i];
    entry.table = block->table.resource.get();
    entry.scratch = block->scratch.get();
    entry.offset_bytes = i * kRunTableBytes;
    entry.values = reinterpret_cast<uint32_t*>(block->table.memory + entry.offset_bytes);
    entry.next_free = std::exchange(free_, &entry);
  }
  blocks_.push_back(std::move(block));
  return true;
}

void RecordRunStart(ID3D12GraphicsCommandList* list, D3D12_COMMAND_LIST_TYPE type,
                    const D3D12RunTable& table, const D3D12Drain& drain, ID3D12Resource* words,
                    uint64_t words_offset) {
  constexpr uint64_t kWord = sizeof(uint32_t);
  constexpr uint64_t kLast = kRunTableBytes - kWord;
  const uint64_t offset = table.offset_bytes;
  const auto transition_both =
      [&](D3D12_RESOURCE_STATES table_before, D3D12_RESOURCE_STATES table_after,
          D3D12_RESOURCE_STATES scratch_before, D3D12_RESOURCE_STATES scratch_after) {
        const D3D12_RESOURCE_BARRIER barriers[] = {
            BufferTransition(table.table, table_before, table_after),
            BufferTransition(table.scratch, scratch_before, scratch_after)};
        list->ResourceBarrier(2, barriers);
      };

  drain.Prepare(list);
  drain.Wait(list, type);
  transition_both(D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_SOURCE,
                  D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST);
  list->CopyBufferRegion(words, words_offset + offsetof(ProgressWords, reached), drain.zeros(), 0,
                         2 * kWord);
  list->CopyBufferRegion(table.scratch, offset, table.table, offset + kWord, kLast);
  list->CopyBufferRegion(table.scratch, offset + kLast, table.table, offset, kWord);
  transition_both(D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COPY_DEST,
                  D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_SOURCE);
  list->CopyBufferRegion(table.table, offset, table.scratch, offset, kRunTableBytes);
  list->CopyBufferRegion(words, words_offset + offsetof(ProgressWords, runs), table.scratch,
                         offset + kLast, kWord);
  transition_both(D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COMMON,
                  D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COMMON);
  drain.Wait(list, type);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
