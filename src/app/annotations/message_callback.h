// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_ANNOTATIONS_MESSAGE_CALLBACK_H_
#define CAIRN_APP_ANNOTATIONS_MESSAGE_CALLBACK_H_

#include <cstdint>

namespace cairn {

// Calls the callback of cairnSetMessageCallback; returns false if there is none. Stands apart from
// the rest of this folder because libcairn exports that function without having the layer.
bool TellMessageCallback(uint32_t id, void* device, const char* text);

}  // namespace cairn

#endif  // CAIRN_APP_ANNOTATIONS_MESSAGE_CALLBACK_H_
