// SPDX-License-Identifier: Apache-2.0
//
// Selects the treatment of a recorded call by a replay, by its method. Most are simply made again.
#ifndef CAIRN_READER_REPLAY_TREATMENT_H_
#define CAIRN_READER_REPLAY_TREATMENT_H_

#include <cstdint>

#include "d3d12gen/methods.h"

namespace cairn {

enum class Treatment : uint8_t {
  kMake,
  kNoEffect,  // changes nothing that a replay depends on: questions, private data, handles of the
              // operating system, settings of debug layers. Not made, and nobody is told
  kUnrepeatable,  // has an effect that no replay can have: not made, counted and told (WhyUnrepeatable)
  kCompletedValue,  // ID3D12Fence::GetCompletedValue: waits for the recorded value
  kAwait,           // ID3D12Fence::SetEventOnCompletion: waits when it can
  kAwaitSeveral,    // the same of several fences
  kFenceSignal,
  kQueueSignal,
  kQueueWait,
  kExecute,  // ExecuteCommandLists
  kMap,
  kUnmap,
  kFeatures,         // CheckFeatureSupport: remembered, for telling what differs
  kPipelineLibrary,  // CreatePipelineLibrary: without the bytes, which are another driver's
  kLoadPipeline,  // LoadPipeline and its kind: made from its description, as the library is empty
  kListReset,
  kImport,  // opens what belongs to the program's process, or to another one: no replay has it
  kRemoveDevice,  // ID3D12Device5::RemoveDevice: the loss is the program's own
};

Treatment TreatmentOf(Method method);

// Returns why a call that is kUnrepeatable cannot be made: the end of a sentence about it. Null for
// all others.
const char* WhyUnrepeatable(Method method);

// Returns the parameter by which a method gives out an object for an identifier; -1 if there is
// none.
int ObjectParameter(Method method);

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_TREATMENT_H_
