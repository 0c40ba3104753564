// SPDX-License-Identifier: Apache-2.0
//
// Limits loops of one function.
#ifndef CAIRN_APP_SPIRV_LOOP_REWRITER_H_
#define CAIRN_APP_SPIRV_LOOP_REWRITER_H_

#include <cstdint>
#include <vector>

#include "app/spirv/control_flow.h"
#include "app/spirv/dominance_repair.h"
#include "app/spirv/loop_finder.h"
#include "app/spirv/loop_report.h"
#include "app/spirv/module.h"

namespace cairn::spirv {

// Changes a function in place: Limit() for each loop, in any order, then Finish() once. Blocks keep their index until
// then, and added ones stand behind them. Cost: linear in the function and its loops.
class LoopRewriter {
 public:
  // flow: of the function as it is. All outlive this.
  LoopRewriter(Module& module, Function& function, const ControlFlow& flow, const BasicTypes& types,
               LoopReport& report);

  // record: the address of its LoopRecord.
  void Limit(const FoundLoop& loop, uint32_t trips, uint64_t record);
  // Returns the values that can't be had any more; with one, the function is not valid.
  std::vector<LostValue> Finish();

 private:
  // Values at the block that goes back.
  struct Left {
    uint32_t cut;  // ids of values there
    uint32_t left;
    uint32_t right;
  };
  struct Between {
    uint32_t before;
    uint32_t block;
  };

  uint32_t Word(uint32_t value);
  uint32_t CountTrips(const FoundLoop& loop);
  Left LeaveBehind(const FoundLoop& loop, uint32_t trips, uint32_t count);
  void AddEdgeToPhis(const FoundLoop& loop);
  uint32_t StandBefore(const FoundLoop& loop);
  void Report(uint32_t after, uint32_t back, uint32_t count, const Left& left, uint64_t record);
  void EndWhatIsReachableNow(const ControlFlow& flow);
  void MoveBetween();

  Module& module_;
  Function& function_;
  const ControlFlow& flow_;  // of the function as it was
  const BasicTypes& types_;
  LoopReport& report_;
  std::vector<std::vector<uint32_t>> predecessors_;  // as they are now
  std::vector<Between> between_;                     // added blocks
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_LOOP_REWRITER_H_
