// SPDX-License-Identifier: Apache-2.0
//
// Facts of objects that only the calls that create them show. One thread, no state.
#ifndef CAIRN_READER_REPLAY_CREATION_FACTS_H_
#define CAIRN_READER_REPLAY_CREATION_FACTS_H_

#include "base/status.h"
#include "reader/replay/call_in_progress.h"
#include "reader/replay/replay_objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Checks root signatures and command signatures, which implementations believe. Other calls are ok.
// Errors are reasons to skip the call: kCorrupt: it contradicts itself; kUnsupported: a version or a
// root signature that is not known here.
Status CheckCreation(CallInProgress* call);

// Returns the facts of the object that the call made. `lost_pipeline`: the pipeline that the call names
// could not be made here.
CreationFacts FactsOf(CallInProgress* call, bool lost_pipeline);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_CREATION_FACTS_H_
