// SPDX-License-Identifier: Apache-2.0
//
// From what BeginEvent or SetMarker passed to what a snapshot keeps of it.
#ifndef CAIRN_FORMAT_SNAPSHOT_ANNOTATION_H_
#define CAIRN_FORMAT_SNAPSHOT_ANNOTATION_H_

#include <cstdint>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Adds the annotation whose payload is `payload` (inside snapshot->text) with its decoded name, and
// returns its index; kNone when the name is longer than the rest of `text_budget_bytes`. Decoding
// takes memory for a moment, and keeps none.
uint32_t AddAnnotation(const AnnotationHeader& header, TextRef payload, uint64_t* text_budget_bytes,
                       Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_ANNOTATION_H_
