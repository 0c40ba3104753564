// SPDX-License-Identifier: Apache-2.0
//
// The recording of a command list: its calls, and the descriptors that they read. Direct3D 12 reads
// the descriptor of a render target, of a depth buffer, or of a view to clear, while the list is
// recorded: afterwards the program may overwrite the descriptor, or release its heap.
#ifndef CAIRN_FORMAT_MODEL_LIVE_RECORDING_H_
#define CAIRN_FORMAT_MODEL_LIVE_RECORDING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "format/model/call_values.h"
#include "format/model/kept_records.h"

namespace cairn {

using Records = std::shared_ptr<KeptRecords>;

// The content of a descriptor: the call that wrote the view, with its values.
struct View {
  Records call;
  uint64_t call_number = 0;
  CallValues values;
};
struct Slot {
  std::shared_ptr<const View> view;
  uint64_t written = 0;  // number of the call that wrote it: of the view itself or of a copy
};

// A descriptor as calls of a list found it.
struct ReadSlot {
  Slot slot;
  uint64_t heap = 0;        // object
  uint64_t first_read = 0;  // numbers of calls
  uint64_t last_read = 0;
};
// Slots by handle and number of the call that had written it: a list may read several views in one
// place.
using ReadSlots = std::map<std::pair<uint64_t, uint64_t>, ReadSlot, std::less<>,
                           KeptAllocator<std::pair<const std::pair<uint64_t, uint64_t>, ReadSlot>>>;

struct ListRecording {
  KeptRecords records;  // from the Reset on
  ReadSlots read;
  std::vector<uint64_t> heaps;  // of these, each held once (LiveObjects::Hold)
  bool read_unknown = false;    // a descriptor of a heap that is not known
  // The bundles as they were when the list executed them: a bundle may be recorded again
  // afterwards.
  std::vector<std::shared_ptr<const ListRecording>> bundles;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIVE_RECORDING_H_
