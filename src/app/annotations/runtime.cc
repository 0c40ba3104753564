// SPDX-License-Identifier: Apache-2.0
#include "app/annotations/runtime.h"

#include <utility>

#include "app/annotations/stderr_line.h"

namespace cairn {

// CairnDriverHost::host points to the runtime.
struct DriverHostFunctions {
  static void ReportCrashEvent(void* host, uint64_t event_id) {
    const CairnDriverHost& offered = static_cast<AnnotationRuntime*>(host)->host_;
    if (offered.crash_event_ids == nullptr || event_id == 0) return;
    const auto words =
        reinterpret_cast<std::atomic<uint64_t>*>(const_cast<uint64_t*>(offered.crash_event_ids));
    for (uint32_t i = 0; i < offered.crash_event_id_count; ++i) {
      uint64_t none = 0;
      if (words[i].compare_exchange_strong(none, event_id, std::memory_order_release)) return;
    }
  }

  static void Log(void* host, const char* text) {
    WriteStderrLine(static_cast<AnnotationRuntime*>(host)->driver_name_.c_str(), text);
  }
};

AnnotationRuntime::AnnotationRuntime(const AnnotationOptions& options)
    : options_(options),
      driver_name_("driver " + options.driver),
      mode_(static_cast<uint32_t>(options.forced ? AnnotationMode::kDriverRetail
                                                 : AnnotationMode::kRuntimeOnly)) {
  host_.struct_size = sizeof(host_);
  host_.interface_version = CAIRN_DRIVER_INTERFACE_VERSION;
  host_.host = this;
  host_.device = options_.device;
  host_.wchar_bytes = options_.wchar_bytes;
  DriverReport* reports = HasContext() ? options_.block->driver_reports() : nullptr;
  if (reports != nullptr) {
    host_.crash_event_ids =
        reinterpret_cast<volatile uint64_t*>(reports[options_.context_index].event_ids);
    host_.crash_event_id_count = kDriverReportCount;
  }
  host_.report_crash_event = DriverHostFunctions::ReportCrashEvent;
  host_.vendor_id = options_.vendor_id;
  host_.device_id = options_.device_id;
  host_.device_name = options_.device_name.c_str();
  host_.log = DriverHostFunctions::Log;
  host_.ddi_supported = D3D12DDI_SUPPORTED_0121;
  host_.feature = D3D12DDI_FEATURE_0121_USER_DEFINED_ANNOTATIONS;
  host_.feature_version = D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_LATEST;
}

AnnotationRuntime::AnnotationRuntime(const AnnotationOptions& options, Driver driver)
    : AnnotationRuntime(options) {
  UseDriver(std::move(driver));
}

std::unique_ptr<AnnotationRuntime> AnnotationRuntime::Create(const AnnotationOptions& options) {
  std::unique_ptr<AnnotationRuntime> runtime(new AnnotationRuntime(options));
  Result<Driver> driver = OpenDriver(options.driver, runtime->host_);
  if (!driver.ok()) {
    const std::string text = driver.status().message() + "; the driver breadcrumb is used instead";
    WriteStderrLine("warning", text.c_str());
    driver = BreadcrumbDriver();
  }
  runtime->UseDriver(std::move(*driver));
  return runtime;
}

AnnotationRuntime::~AnnotationRuntime() {
  if (driver_.close != nullptr) driver_.close(driver_.state);
}

bool AnnotationRuntime::HasContext() const {
  return options_.block != nullptr && options_.context_index < kMaxContexts;
}

void AnnotationRuntime::UseDriver(Driver driver) {
  driver_ = std::move(driver);
  driver_name_ = "driver " + driver_.name;
  if (!HasContext()) return;
  ContextRecord& record = options_.block->contexts()[options_.context_index];
  record.annotation_driver = options_.block->AddName(driver_.name);
  record.annotations_forced = options_.forced;
}

bool AnnotationRuntime::SetMode(uint32_t mode) {
  if (mode > static_cast<uint32_t>(AnnotationMode::kDriverRetail)) {
    GiveDebugMessage(
        *this, CAIRN_MESSAGE_SET_USER_DEFINED_ANNOTATION_MODE_INVALID_ARGUMENT,
        "ID3D12DeviceTools2::SetUserDefinedAnnotationMode: Mode " + std::to_string(mode) +
            " is not a D3D12_USER_DEFINED_ANNOTATION_MODE; the mode stays as it was. Use "
            "RUNTIME_ONLY (0) or DRIVER_RETAIL (1). [ STATE_SETTING ERROR #1465: "
            "SET_USER_DEFINED_ANNOTATION_MODE_INVALID_ARGUMENT ]");
    return false;
  }
  if (!options_.forced) mode_.store(mode, std::memory_order_relaxed);
  return true;
}

std::shared_ptr<MarkerArena> AnnotationRuntime::NewAllocatorArena(const void* native_allocator) {
  return std::make_shared<MarkerArena>(options_.block, MarkerArena::Lifetime::kAllocator,
                                       native_allocator);
}

AnnotatedChild::AnnotatedChild(AnnotationRuntime& runtime, uint32_t kind, void* native)
    : functions_(runtime.driver().functions),
      mode_(runtime.mode()),
      forwards_(mode_ == AnnotationMode::kDriverRetail && runtime.supported()),
      records_breadcrumbs_(runtime.driver().records_breadcrumbs) {
  object_.struct_size = sizeof(CairnDriverObject);
  object_.handle_type = kind;
  object_.driver = runtime.driver().state;
  object_.native = native;
  object_.breadcrumbs = nullptr;
  object_.ends_event = false;
}

void AnnotatedChild::SetName(const void* name) {
  // Objects without a kind (root signatures, trackers) have no handle that a driver could be given.
  if (!forwards_ || object_.handle_type == 0) return;
  functions_.pfnSetName({&object_, static_cast<D3D12DDI_HANDLETYPE>(object_.handle_type)},
                        static_cast<const wchar_t*>(name));
}

void AnnotatedList::OnOpen(std::shared_ptr<MarkerArena> arena, CommandList* breadcrumbs) {
  arena_ = std::move(arena);
  object_.breadcrumbs = breadcrumbs;
  open_events_.Clear();
}

void AnnotatedList::OnClose() {
  arena_.reset();
  object_.breadcrumbs = nullptr;
}

// Only lists that are not recording, where the call is the application's mistake, have no arena.
uint64_t AnnotatedList::Keep(MarkerKind kind, uint32_t metadata, const void* data, uint32_t size) {
  if (arena_ == nullptr) return NextUnkeptEventId();
  return arena_->Append(kind, metadata, data, size);
}

AnnotationCall AnnotatedList::ForwardBegin(uint32_t metadata, const void* data, uint32_t size) {
  const uint64_t event_id = Keep(MarkerKind::kBeginEvent, metadata, data, size);
  open_events_.Push(event_id);
  functions_.pfnCmdListBeginEvent(handle(), metadata, data, size, event_id);
  return {event_id, records_breadcrumbs_};
}

AnnotationCall AnnotatedList::ForwardEnd() {
  object_.ends_event = !open_events_.empty();
  const uint64_t event_id = open_events_.Pop();
  functions_.pfnCmdListEndEvent(handle(), event_id);
  return {event_id, records_breadcrumbs_};
}

AnnotationCall AnnotatedList::ForwardMarker(uint32_t metadata, const void* data, uint32_t size) {
  const uint64_t event_id = Keep(MarkerKind::kSetMarker, metadata, data, size);
  functions_.pfnCmdListSetMarker(handle(), metadata, data, size, event_id);
  return {event_id, records_breadcrumbs_};
}

AnnotatedQueue::AnnotatedQueue(AnnotationRuntime& runtime, void* native, const void* handle)
    : AnnotatedChild(runtime, D3D12DDI_HT_COMMAND_QUEUE, native),
      keeps_(mode_ == AnnotationMode::kDriverRetail || runtime.options().keeps_all_events),
      arena_(
          runtime.options().block,
          forwards_ ? MarkerArena::Lifetime::kQueue : MarkerArena::Lifetime::kQueueWithoutEventIds,
          handle != nullptr ? handle : native) {}

uint64_t AnnotatedQueue::Keep(MarkerKind kind, uint32_t metadata, const void* data, uint32_t size) {
  const uint64_t event_id =
      arena_.Append(kind, metadata, data, size, submission_.load(std::memory_order_relaxed));
  return forwards_ ? event_id : 0;
}

uint64_t AnnotatedQueue::BeginEvent(uint32_t metadata, const void* data, uint32_t size) {
  if (Ignores()) return 0;
  std::lock_guard lock(mutex_);
  const uint64_t event_id = Keep(MarkerKind::kBeginEvent, metadata, data, size);
  open_events_.Push(event_id);
  if (forwards_) functions_.pfnCmdQueueBeginEvent(handle(), metadata, data, size, event_id);
  return event_id;
}

uint64_t AnnotatedQueue::EndEvent() {
  if (Ignores()) return 0;
  std::lock_guard lock(mutex_);
  if (!open_events_.empty()) Keep(MarkerKind::kEndEvent, 0, nullptr, 0);
  const uint64_t event_id = open_events_.Pop();
  if (forwards_) functions_.pfnCmdQueueEndEvent(handle(), event_id);
  return event_id;
}

uint64_t AnnotatedQueue::SetMarker(uint32_t metadata, const void* data, uint32_t size) {
  if (Ignores()) return 0;
  std::lock_guard lock(mutex_);
  const uint64_t event_id = Keep(MarkerKind::kSetMarker, metadata, data, size);
  if (forwards_) functions_.pfnCmdQueueSetMarker(handle(), metadata, data, size, event_id);
  return event_id;
}

}  // namespace cairn
