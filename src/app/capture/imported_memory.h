// SPDX-License-Identifier: Apache-2.0
//
// Finds what the CPU writes into memory that the program lent to the implementation
// (ID3D12Device3::OpenExistingHeapFromAddress): by comparison with a copy. It belongs to the program,
// which may write-protect or free it at any time: no tracker is set on it, and each read asks the system,
// which refuses what cannot be read.
#ifndef CAIRN_APP_CAPTURE_IMPORTED_MEMORY_H_
#define CAIRN_APP_CAPTURE_IMPORTED_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "app/capture/mapped_memory.h"

namespace cairn {

// Any thread.
class ImportedMemory {
 public:
  static ImportedMemory& Get();  // of the process; never destroyed

  using Report = MappedMemory::Report;  // may not call back; the subresource is 0

  // `object` lies at `address`: reports all bytes of it, and those that change from now on. False: the
  // memory cannot be read, or there is none for a copy; then nothing is reported, now and later, but
  // Has() is true.
  bool Add(uint64_t object, uint64_t address, uint64_t size_bytes, const Report& report);
  // The object ends. Its memory is read no more.
  void Forget(uint64_t object);
  void ForgetAll();

  // Reports what was written since the last time; `report` may be empty. Returns the objects whose memory
  // cannot be read any more, which is not tried again. Cost: reads all of the memory.
  std::vector<uint64_t> Flush(const Report& report);
  bool Has(uint64_t object) const;
  // Copies what Flush() or Add() found last, and returns true; false if there is nothing. The range must
  // be within the object.
  bool Copy(uint64_t object, uint64_t offset_bytes, std::span<std::byte> to) const;

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  struct Memory {
    uint64_t address = 0;
    uint64_t size_bytes = 0;
    std::unique_ptr<std::byte[], Free> copy;  // null: was never read
    bool lost = false;                        // cannot be read
  };

  static bool ReadAll(Memory* memory);

  mutable std::mutex mutex_;
  std::map<uint64_t, Memory> objects_;
  std::vector<std::byte> piece_;  // kept for its memory
  std::atomic<bool> any_{false};
};

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_IMPORTED_MEMORY_H_
