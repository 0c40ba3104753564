// SPDX-License-Identifier: Apache-2.0
//
// The places of texts and byte values in the body of a call, for who replaces them there: all other
// bytes of the body stay as they were recorded.
#ifndef CAIRN_FORMAT_CALLS_ENCODED_VALUES_H_
#define CAIRN_FORMAT_CALLS_ENCODED_VALUES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_shape.h"

namespace cairn {

struct EncodedValue {
  // The declaration of a parameter, a result or a field; null for a name in a state object that no
  // table describes.
  const ValueInfo* value = nullptr;
  Shape shape = Shape::kBytes;  // kString, kWideString, or kBytes: a byte value (record.h)
  size_t offset = 0;            // in the body, of its size
  size_t size_bytes = 0;        // with the size in front
};

enum class CallBody { kArguments, kResults };

// Appends the places in their order. Reads the blobs of arrays of structs, and not those of byte values. `body`: as DecodeArguments and DecodeResults take it. Errors: theirs; then
// some places may have been appended.
Status FindEncodedValues(const MethodInfo& method, std::span<const std::byte> body, CallBody what,
                         const DecodeOptions& options, Arena* arena,
                         std::vector<EncodedValue>* places);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_ENCODED_VALUES_H_
