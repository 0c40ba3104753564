// SPDX-License-Identifier: Apache-2.0
#include "app/api/errors.h"

#include <algorithm>
#include <array>

namespace cairn {
namespace {

// A fixed buffer: keeping the message of a failed allocation must not allocate.
thread_local std::array<char, 512> last_message{};

CairnResult ToResult(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return CAIRN_OK;
    case StatusCode::kInvalidArgument: return CAIRN_ERROR_INVALID_ARGUMENT;
    case StatusCode::kUnsupported: return CAIRN_ERROR_EXTENSION_NOT_SUPPORTED;
    case StatusCode::kOutOfMemory: return CAIRN_ERROR_OUT_OF_MEMORY;
    case StatusCode::kDeviceLost: return CAIRN_ERROR_DEVICE_LOST;
    case StatusCode::kNotFound:
    case StatusCode::kCorrupt:
    case StatusCode::kIo:
    case StatusCode::kInterrupted:
    case StatusCode::kInternal: return CAIRN_ERROR_OPERATING_SYSTEM;
  }
  return CAIRN_ERROR_OPERATING_SYSTEM;
}

}  // namespace

CairnResult Fail(CairnResult result, std::string_view message) {
  const size_t length = std::min(message.size(), last_message.size() - 1);
  std::copy_n(message.data(), length, last_message.data());
  last_message[length] = 0;
  return result;
}

CairnResult Fail(const Status& status) {
  return Fail(ToResult(status.code()), status.message());
}

}  // namespace cairn

const char* cairnGetLastErrorMessage(void) {
  return cairn::last_message.data();
}

const char* cairnResultString(CairnResult result) {
  switch (result) {
    case CAIRN_OK: return "CAIRN_OK";
    case CAIRN_ERROR_INVALID_ARGUMENT: return "CAIRN_ERROR_INVALID_ARGUMENT";
    case CAIRN_ERROR_OUT_OF_MEMORY: return "CAIRN_ERROR_OUT_OF_MEMORY";
    case CAIRN_ERROR_EXTENSION_NOT_SUPPORTED: return "CAIRN_ERROR_EXTENSION_NOT_SUPPORTED";
    case CAIRN_ERROR_DEVICE_NOT_CREATED: return "CAIRN_ERROR_DEVICE_NOT_CREATED";
    case CAIRN_ERROR_DEVICE_LOST: return "CAIRN_ERROR_DEVICE_LOST";
    case CAIRN_ERROR_OPERATING_SYSTEM: return "CAIRN_ERROR_OPERATING_SYSTEM";
    case CAIRN_ERROR_UNBALANCED_MARKER: return "CAIRN_ERROR_UNBALANCED_MARKER";
  }
  return "CAIRN_ERROR_UNKNOWN";
}

uint32_t cairnGetVersion(void) {
  return CAIRN_VERSION_MAJOR << 16 | CAIRN_VERSION_MINOR << 8 | CAIRN_VERSION_PATCH;
}
