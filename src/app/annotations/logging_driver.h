// SPDX-License-Identifier: Apache-2.0
//
// The logging driver: a software driver in the role that WARP has on Windows. It supports the feature,
// logs every call and retains nothing. Lines go to stderr, or to whoever observes.
#ifndef CAIRN_APP_ANNOTATIONS_LOGGING_DRIVER_H_
#define CAIRN_APP_ANNOTATIONS_LOGGING_DRIVER_H_

#include <cstdint>
#include <string>

#include "app/annotations/driver.h"

namespace cairn {

enum class DriverFunction {
  kCmdQueueBeginEvent,
  kCmdQueueEndEvent,
  kCmdQueueSetMarker,
  kCmdListBeginEvent,
  kCmdListEndEvent,
  kCmdListSetMarker,
  kSetName,
};

// "pfnCmdQueueBeginEvent"
const char* DriverFunctionName(DriverFunction function);

// One call as it arrived; pointers are valid while it is being logged.
struct DriverCall {
  DriverFunction function;
  const CairnDriverObject* object;
  uint32_t handle_type;  // as passed in D3D12DDI_HANDLE_AND_TYPE; otherwise as the object says
  uint32_t metadata;
  const void* data;
  uint32_t size;
  uint64_t event_id;
  const void* name;  // kSetName; characters of wchar_bytes bytes, or null
  uint32_t wchar_bytes;
};

// Gets every call of every logging driver of the process instead of stderr, on the calling thread; null
// puts stderr back. For tests and tools; set it while no device exists.
using DriverCallObserver = void (*)(const DriverCall& call, void* user_data);
void ObserveLoggingDriver(DriverCallObserver observer, void* user_data);

// "pfnCmdListSetMarker(command list 0x..., metadata 1, 5 bytes, EventID 0x...)"
std::string DescribeDriverCall(const DriverCall& call);

Driver LoggingDriver(const CairnDriverHost& host);

// The same table with its log compiled to nothing: the cost of the runtime alone, for the benchmark.
Driver LoggingDriverWithoutLog();

}  // namespace cairn

#endif  // CAIRN_APP_ANNOTATIONS_LOGGING_DRIVER_H_
