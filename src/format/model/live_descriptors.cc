// SPDX-License-Identifier: Apache-2.0
#include "format/model/live_descriptors.h"

#include <cstring>
#include <utility>

namespace cairn {

uint64_t LiveDescriptors::HeapCreated(uint64_t handle) const {
  const LiveObject* const heap = objects_.Find(table_.HeapAt(handle));
  return heap == nullptr ? 0 : heap->created;
}

void LiveDescriptors::OnView(const Record& record, const Records& records) {
  auto view = std::make_shared<View>();
  uint64_t handle = 0;
  if (record.body.size() < sizeof(handle) || !reader_.Read(record, records.get(), &view->values)) {
    return;
  }
  std::memcpy(&handle, record.body.data() + record.body.size() - sizeof(handle), sizeof(handle));
  view->values.cpu_descriptors.clear();  // only the handle itself
  view->call = records;
  view->call_number = record.number;
  table_.Write(handle, Slot{std::move(view), record.number});
}

void LiveDescriptors::OnCopies(const Record& record, bool simple) {
  table_.Copy(reader_.Arguments(record, nullptr), simple,
              [&record](Slot& slot) { slot.written = record.number; });
}

}  // namespace cairn
