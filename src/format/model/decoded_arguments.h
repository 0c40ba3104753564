// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a decoded call, by their place.
#ifndef CAIRN_FORMAT_MODEL_DECODED_ARGUMENTS_H_
#define CAIRN_FORMAT_MODEL_DECODED_ARGUMENTS_H_

#include <cstddef>
#include <cstring>

#include "format/calls/value_decoder.h"

namespace cairn {

// The parameter's own memory; null if there is none.
template <typename T>
const T* Argument(const DecodedCall& call, size_t index) {
  return index < call.arguments.size() ? static_cast<const T*>(call.arguments[index]) : nullptr;
}

// A copy of the parameter; T() if there is none, as behind kNoParameter.
template <typename T>
T Value(const DecodedCall& call, size_t index) {
  T value{};
  if (const T* const place = Argument<T>(call, index)) std::memcpy(&value, place, sizeof(value));
  return value;
}

// The first elements of an array parameter; null if the pointer was null.
template <typename T>
const T* Array(const DecodedCall& call, size_t index) {
  const T* const* const pointer = Argument<const T*>(call, index);
  return pointer == nullptr ? nullptr : *pointer;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_DECODED_ARGUMENTS_H_
