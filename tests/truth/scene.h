// SPDX-License-Identifier: Apache-2.0
//
// What a frame of the faulting program does, as a table: four command lists of passes of works, on two queues.
// A work is one draw, dispatch or fill; where it stands is told by its labels: "Frame 2", pass, work, and by
// its ordinal where several stand in one label.
#ifndef CAIRN_TESTS_TRUTH_SCENE_H_
#define CAIRN_TESTS_TRUTH_SCENE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::truth {

enum class WorkType : uint8_t {
  kDispatch,
  kDispatchIndirect,
  kDraw,
  kDrawIndexed,
  kDrawIndirect,
  kFill,
  kWaitEvent,  // in no frame: only a fault brings it
};
// Returns the name in reports.
const char* NameOf(WorkType type);
bool IsDraw(WorkType type);

enum class Section : uint8_t { kPlain, kRendering, kSecondary, kSecondaryInRendering };
bool IsRendering(Section section);
enum class QueueKind : uint8_t { kGraphics, kCompute };

struct WorkPlan {
  const char* label;
  WorkType type = WorkType::kDispatch;
  uint32_t count = 1;   // of works in this label, one behind the other
  bool barrier = true;  // behind each, where barriers are allowed
};
struct PassPlan {
  const char* name;
  Section section;
  std::vector<WorkPlan> works;
};
struct ListPlan {
  const char* name;
  QueueKind queue;
  std::vector<PassPlan> passes;
};
// The part of a frame that exists. Without render passes, their labels are empty; everything else
// is unchanged.
enum class FrameKind : uint8_t { kWhole, kDispatchesOnly };
const char* NameOf(FrameKind kind);
// In the order in which they are submitted.
const std::vector<ListPlan>& Frame(FrameKind kind);
enum ListNumber : uint32_t { kSimulation, kAsync, kMain, kPost };

// One work of one frame.
struct Work {
  uint32_t frame = 0;
  uint32_t list = 0;  // into the frame
  const char* pass = "";
  const char* label = "";
  WorkType type = WorkType::kDispatch;
  uint32_t ordinal = 1;  // among those in its label
};
// Returns the work of this many frames, in the order of recording.
std::vector<Work> WorksOf(FrameKind kind, uint32_t frame_count);
std::string FrameName(uint32_t frame);

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_SCENE_H_
