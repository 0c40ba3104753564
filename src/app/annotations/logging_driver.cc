// SPDX-License-Identifier: Apache-2.0
#include "app/annotations/logging_driver.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <mutex>

namespace cairn {
namespace {

std::mutex observer_mutex;
DriverCallObserver observer = nullptr;
void* observer_user_data = nullptr;

// The target of CairnDriverObject::driver.
struct LoggingState {
  const CairnDriverHost* host;
};

const CairnDriverObject* Object(void* handle) {
  return static_cast<const CairnDriverObject*>(handle);
}

void Log(DriverCall call) {
  const CairnDriverHost& host = *static_cast<LoggingState*>(call.object->driver)->host;
  call.wchar_bytes = host.wchar_bytes;
  {
    std::lock_guard lock(observer_mutex);
    if (observer != nullptr) {
      observer(call, observer_user_data);
      return;
    }
  }
  host.log(host.host, DescribeDriverCall(call).c_str());
}

template <bool kLogs, DriverFunction kFunction, typename Handle>
void CAIRN_DDI_CALL Annotate(Handle handle, uint32_t metadata, const void* data, uint32_t size,
                             uint64_t event_id) {
  if constexpr (kLogs) {
    const CairnDriverObject* object = Object(handle.pDrvPrivate);
    Log({kFunction, object, object->handle_type, metadata, data, size, event_id, nullptr, 0});
  }
}

template <bool kLogs, DriverFunction kFunction, typename Handle>
void CAIRN_DDI_CALL End(Handle handle, uint64_t event_id) {
  if constexpr (kLogs) {
    const CairnDriverObject* object = Object(handle.pDrvPrivate);
    Log({kFunction, object, object->handle_type, 0, nullptr, 0, event_id, nullptr, 0});
  }
}

template <bool kLogs>
void CAIRN_DDI_CALL SetName(D3D12DDI_HANDLE_AND_TYPE handle, const wchar_t* name) {
  if constexpr (kLogs) {
    Log({DriverFunction::kSetName, Object(handle.Handle), static_cast<uint32_t>(handle.Type), 0,
         nullptr, 0, 0, name, 0});
  }
}

template <bool kLogs>
constexpr D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121 kFunctions = {
    Annotate<kLogs, DriverFunction::kCmdQueueBeginEvent, D3D12DDI_HCOMMANDQUEUE>,
    End<kLogs, DriverFunction::kCmdQueueEndEvent, D3D12DDI_HCOMMANDQUEUE>,
    Annotate<kLogs, DriverFunction::kCmdQueueSetMarker, D3D12DDI_HCOMMANDQUEUE>,
    Annotate<kLogs, DriverFunction::kCmdListBeginEvent, D3D12DDI_HCOMMANDLIST>,
    End<kLogs, DriverFunction::kCmdListEndEvent, D3D12DDI_HCOMMANDLIST>,
    Annotate<kLogs, DriverFunction::kCmdListSetMarker, D3D12DDI_HCOMMANDLIST>,
    SetName<kLogs>,
};

// A name for a line of the log: cut, and nothing but printable ASCII.
std::string ShownName(const DriverCall& call) {
  constexpr size_t kShownCharacters = 64;
  if (call.name == nullptr) return "null";
  std::string text = "\"";
  const char* from = static_cast<const char*>(call.name);
  for (size_t i = 0;; ++i, from += call.wchar_bytes) {
    uint32_t character = 0;  // little-endian
    std::memcpy(&character, from, call.wchar_bytes);
    if (character == 0) break;
    if (i == kShownCharacters) return text + "\"...";
    if (character >= 0x20 && character < 0x7F) {
      text += static_cast<char>(character);
    } else {
      fmt::format_to(std::back_inserter(text), "\\u{{{:x}}}", character);
    }
  }
  return text + "\"";
}

}  // namespace

const char* DriverFunctionName(DriverFunction function) {
  switch (function) {
    case DriverFunction::kCmdQueueBeginEvent: return "pfnCmdQueueBeginEvent";
    case DriverFunction::kCmdQueueEndEvent: return "pfnCmdQueueEndEvent";
    case DriverFunction::kCmdQueueSetMarker: return "pfnCmdQueueSetMarker";
    case DriverFunction::kCmdListBeginEvent: return "pfnCmdListBeginEvent";
    case DriverFunction::kCmdListEndEvent: return "pfnCmdListEndEvent";
    case DriverFunction::kCmdListSetMarker: return "pfnCmdListSetMarker";
    case DriverFunction::kSetName: return "pfnSetName";
  }
  return "unknown";
}

std::string DescribeDriverCall(const DriverCall& call) {
  const char* name = DriverFunctionName(call.function);
  switch (call.function) {
    case DriverFunction::kSetName:
      return fmt::format("{}(type {}, {}, {})", name, call.handle_type, call.object->native,
                         ShownName(call));
    case DriverFunction::kCmdQueueEndEvent:
    case DriverFunction::kCmdListEndEvent:
      return fmt::format("{}({}, EventID {:#x})", name, call.object->native, call.event_id);
    default:
      return fmt::format("{}({}, metadata {}, {} bytes, EventID {:#x})", name, call.object->native,
                         call.metadata, call.size, call.event_id);
  }
}

void ObserveLoggingDriver(DriverCallObserver new_observer, void* user_data) {
  std::lock_guard lock(observer_mutex);
  observer = new_observer;
  observer_user_data = user_data;
}

Driver LoggingDriver(const CairnDriverHost& host) {
  Driver driver;
  driver.name = "logging";
  driver.supported = true;
  driver.functions = kFunctions<true>;
  driver.state = new LoggingState{&host};
  driver.close = [](void* state) { delete static_cast<LoggingState*>(state); };
  return driver;
}

Driver LoggingDriverWithoutLog() {
  Driver driver;
  driver.name = "logging";
  driver.supported = true;
  driver.functions = kFunctions<false>;
  return driver;
}

}  // namespace cairn
