// SPDX-License-Identifier: Apache-2.0
//
// Classifies calls whose effects a later start of a capture must restore, by the names of the
// methods.
#ifndef CAIRN_FORMAT_MODEL_CALL_KINDS_H_
#define CAIRN_FORMAT_MODEL_CALL_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "d3d12gen/methods.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"

namespace cairn {

enum class CallKind : uint8_t {
  kOther,        // leaves something only if it creates an object
  kSetting,      // SetName, ...: the last one of an object counts
  kPrivateData,  // the same, if it is a name
  kIdentifier,   // a result that other calls and memory refer to: all of an object count
  kListWork,     // recorded into a list
  kListReset,
  kListClose,
  kView,       // writes a descriptor, whose handle is the last parameter
  kCopyViews,  // CopyDescriptors
  kCopyViewsSimple,
  kQueueSignal,
  kFenceSignal,
  kTileMapping,
  kMap,
  kUnmap,
};

// Returns the kind of a method; kOther for an unknown number.
CallKind CallKindOf(uint16_t method);

// Calls of lists that read descriptors by their CPU handles: when they are recorded, not when the list is
// executed.
bool ReadsDescriptors(uint16_t method);

// The GPU finds addresses in memory that no call names.
bool GpuReadsAddresses(Method method);
// Returns true if the call writes a view of an acceleration structure: a shader that traces rays
// through it follows addresses to others.
bool ViewsAddresses(Method method, const DecodedCall& call);

// The encoding of a name in the data of SetPrivateData; kNone: they hold no name.
enum class NameKind : uint8_t { kNone, kNarrow, kWide };
NameKind NameInPrivateData(std::span<const std::byte> arguments);

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_CALL_KINDS_H_
