// SPDX-License-Identifier: Apache-2.0
//
// Selects the kinds of records: those that this build knows, or also those of later versions of
// Cairn, which only code that copies a trace handles.
#ifndef CAIRN_FORMAT_TRACE_RECORD_KINDS_H_
#define CAIRN_FORMAT_TRACE_RECORD_KINDS_H_

#include <cstdint>

namespace cairn {

enum class RecordKinds : uint8_t { kKnown, kAll };

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_RECORD_KINDS_H_
