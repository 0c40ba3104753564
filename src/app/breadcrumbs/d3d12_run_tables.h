// SPDX-License-Identifier: Apache-2.0
//
// Counting the executions of a reusable list without arithmetic: Direct3D 12 offers copies only. A
// table holds the numbers 1, 2, ..., kRunModulus - 1, 0. At its start the list copies the table into
// a second buffer, rotated by one, and back; what moved from the front to the end is the number of
// this execution.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_RUN_TABLES_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_RUN_TABLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "app/breadcrumbs/d3d12_buffers.h"
#include "app/breadcrumbs/d3d12_drain.h"
#include "format/block/block.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

inline constexpr size_t kRunTableBytes = kRunModulus * sizeof(uint32_t);

struct D3D12RunTable {
  ID3D12Resource* table = nullptr;    // mapped
  ID3D12Resource* scratch = nullptr;  // the rotated copy
  uint64_t offset_bytes = 0;          // in both
  uint32_t* values = nullptr;         // of the table
  D3D12RunTable* next_free = nullptr;
};

class D3D12RunTables {
 public:
  // `device` must outlive the tables; no memory is taken yet.
  explicit D3D12RunTables(ID3D12Device* device) : device_(device) {}
  D3D12RunTables(const D3D12RunTables&) = delete;
  D3D12RunTables& operator=(const D3D12RunTables&) = delete;

  // A table whose next execution is number 1. Null when the device has no more memory.
  D3D12RunTable* Take();
  // The GPU must have finished with it; null is nothing.
  void GiveBack(D3D12RunTable* table);

 private:
  static constexpr size_t kTablesPerBlock = 256;
  struct Block {
    D3D12MappedBuffer table;
    ComPtr<ID3D12Resource> scratch;
    std::array<D3D12RunTable, kTablesPerBlock> tables;
  };
  bool AddBlock();

  ID3D12Device* const device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;  // guarded by mutex_
  D3D12RunTable* free_ = nullptr;               // guarded by mutex_
};

// Records the start of an execution: waits for all earlier work, sets the ProgressWords at
// `words_offset` to reached = passed = 0 and then runs = the execution's number modulo kRunModulus.
// Zeros first, so that a reader of the words never sees the new number with the old progress. Calls
// drain.Prepare(), and leaves both buffers in COMMON.
void RecordRunStart(ID3D12GraphicsCommandList* list, D3D12_COMMAND_LIST_TYPE type,
                    const D3D12RunTable& table, const D3D12Drain& drain, ID3D12Resource* words,
                    uint64_t words_offset);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_RUN_TABLES_H_
