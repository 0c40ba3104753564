// SPDX-License-Identifier: Apache-2.0
//
// Finds how far a trace is played for the images around a call, and whether work that had not ended when the program
// failed would be played with it.
#ifndef CAIRN_READER_VIEW_PICTURE_PLACE_H_
#define CAIRN_READER_VIEW_PICTURE_PLACE_H_

#include <cstdint>

#include "base/status.h"
#include "format/snapshot/snapshot.h"
#include "format/trace/trace_reader.h"
#include "reader/analysis/analysis.h"
#include "reader/replay/player.h"

namespace cairn::cli {

enum class PictureMoment : uint32_t {
  kSubmitted,  // all that was submitted up to the call has ended
  kBefore,  // the same; a list that records the call has been executed up to it, without the call
  kAfter,   // the same with the call
};

// The first call whose work had not ended when the program failed, as far as that is known; earlier ones had.
struct UnfinishedWork {
  static constexpr uint64_t kNone = ~uint64_t{0};  // all had ended, or nothing failed
  uint64_t first_call = kNone;                     // 0: it is not known which

  // Reads the trace up to that work. Work that the GPU told nothing about counts as what the report says of its
  // command list. `snapshot`: of the same file; null: it has none. `analysis` is that of the snapshot.
  static UnfinishedWork Of(TraceReader& trace, const Snapshot* snapshot, const Analysis& analysis);
};

struct PicturePlace {
  uint64_t last_call = 0;                  // that is played
  uint64_t first_left_out = ~uint64_t{0};  // of the calls in `omissions`
  Omissions omissions;                     // what the last submission has behind the call
  bool is_partial() const { return first_left_out != ~uint64_t{0}; }
};

// Reads the trace from the call to the submission of its list. `unfinished`: of this work nothing is played; a default
// one: all may be.
// Errors, for people: kInvalidArgument: there is no such call, or its list was not submitted behind it; kUnsupported:
// such work would be played.
Result<PicturePlace> FindPicturePlace(TraceReader& trace, uint64_t call, PictureMoment moment,
                                      const UnfinishedWork& unfinished);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_PICTURE_PLACE_H_
