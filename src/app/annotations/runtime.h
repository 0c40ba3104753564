// SPDX-License-Identifier: Apache-2.0
//
// The runtime half of user-defined annotations: one AnnotationRuntime a device, one AnnotatedChild in
// every wrapper of a device child. No Direct3D header here: the layer translates.
//
//   device created            AnnotationRuntime::Create
//   any child created         AnnotatedChild (lists: AnnotatedList, queues: AnnotatedQueue); the mode of
//                             this moment is the child's for ever
//   SetName                   child.SetName(name), whatever the real object answered
//   allocator created/reset   runtime.NewAllocatorArena(native) / arena->Reset() after it succeeded
//   list created open/Reset   list.OnOpen(allocator's arena, its breadcrumbs or null), after it succeeded
//   list Close                list.OnClose(), after it succeeded
//   BeginEvent, ...           the AnnotationCall says whether the driver recorded the breadcrumbs;
//                             if it did not, the layer does, with the EventID in it
#ifndef CAIRN_APP_ANNOTATIONS_RUNTIME_H_
#define CAIRN_APP_ANNOTATIONS_RUNTIME_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "app/annotations/driver.h"
#include "app/annotations/marker_arena.h"
#include "app/annotations/open_events.h"
#include "app/recorder/block_writer.h"

namespace cairn {

// D3D12_USER_DEFINED_ANNOTATION_MODE.
enum class AnnotationMode : uint32_t { kRuntimeOnly = 0, kDriverRetail = 1 };

struct AnnotationOptions {
  static constexpr uint32_t kNoContext = 0xFFFFFFFF;
  BlockWriter* block = nullptr;         // null: nothing is kept
  uint32_t context_index = kNoContext;  // the device's record in the block
  bool keeps_all_events = false;        // CAIRN_EVENTS: RUNTIME_ONLY keeps what markers carry, too
  bool forced = false;                  // ForceDriverRetailAnnotations
  std::string driver;                   // CAIRN_DRIVER; "" is the default
  void* device = nullptr;               // the implementation's
  void* application_device = nullptr;   // the wrapper, for messages
  uint32_t wchar_bytes = 4;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::string device_name;
  // Adds a debug message to the device's ID3D12InfoQueue; false if it has none. May be null.
  bool (*add_to_info_queue)(void* user_data, uint32_t id, const char* text) = nullptr;
  void* info_queue_user_data = nullptr;
};

class AnnotationRuntime {
 public:
  // Opens the driver; one that cannot be opened is replaced by the default, and stderr says why. Notes
  // the driver and the override in the context's record.
  static std::unique_ptr<AnnotationRuntime> Create(const AnnotationOptions& options);
  // Makes a runtime with a driver that is open already.
  AnnotationRuntime(const AnnotationOptions& options, Driver driver);
  // Destroy it after all children.
  ~AnnotationRuntime();

  AnnotationRuntime(const AnnotationRuntime&) = delete;
  AnnotationRuntime& operator=(const AnnotationRuntime&) = delete;

  // D3D12_FEATURE_USER_DEFINED_ANNOTATION.
  bool supported() const { return driver_.supported; }

  // False for a value that is no mode (E_INVALIDARG): message 1465 was given, and nothing changed. While
  // the override is in effect, modes are accepted and change nothing. Any thread.
  bool SetMode(uint32_t mode);
  // The effective mode. Any thread.
  AnnotationMode mode() const {
    return static_cast<AnnotationMode>(mode_.load(std::memory_order_relaxed));
  }
  bool forced() const { return options_.forced; }

  const Driver& driver() const { return driver_; }
  const AnnotationOptions& options() const { return options_; }

  // For a command allocator; costs nothing until the first marker. Shared with the lists that record.
  std::shared_ptr<MarkerArena> NewAllocatorArena(const void* native_allocator);

 private:
  friend struct DriverHostFunctions;
  explicit AnnotationRuntime(const AnnotationOptions& options);
  void UseDriver(Driver driver);
  bool HasContext() const;

  const AnnotationOptions options_;
  std::string driver_name_;  // as the log shows it
  CairnDriverHost host_ = {};
  Driver driver_;
  std::atomic<uint32_t> mode_;
};

// The annotations of a device child.
class AnnotatedChild {
 public:
  // `kind` is a D3D12DDI_HANDLETYPE, the same as D3D12_DRED_ALLOCATION_TYPE, or 0 for objects that have
  // none: their names do not reach the driver. `native` is the real object.
  AnnotatedChild(AnnotationRuntime& runtime, uint32_t kind, void* native);

  AnnotatedChild(const AnnotatedChild&) = delete;
  AnnotatedChild& operator=(const AnnotatedChild&) = delete;

  // The application's pointer, characters of AnnotationOptions::wchar_bytes bytes; may be null. Any
  // thread.
  void SetName(const void* name);

  AnnotationMode mode() const { return mode_; }
  // Calls reach the driver.
  bool forwards() const { return forwards_; }
  const DriverObject& object() const { return object_; }

 protected:
  const D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121& functions_;
  DriverObject object_;
  const AnnotationMode mode_;
  const bool forwards_;
  const bool records_breadcrumbs_;
};

struct AnnotationCall {
  uint64_t event_id;  // 0 if the driver was not called, and for an EndEvent without a BeginEvent
  bool recorded;      // the driver recorded the list's breadcrumbs: the layer must not
};

// Graphics command lists of all types, bundles, video-process lists. One thread at a time.
class AnnotatedList : public AnnotatedChild {
 public:
  AnnotatedList(AnnotationRuntime& runtime, uint32_t kind, void* native)
      : AnnotatedChild(runtime, kind, native) {}

  // Recording starts: no event is open. `arena` is that of the allocator.
  void OnOpen(std::shared_ptr<MarkerArena> arena, CommandList* breadcrumbs);
  // Sets the breadcrumbs that the layer makes for the recording later; null: it gives them up.
  void SetBreadcrumbs(CommandList* breadcrumbs) { object_.breadcrumbs = breadcrumbs; }
  // Recording ended: the allocator may die before the list. Breadcrumbs are forgotten.
  void OnClose();

  AnnotationCall BeginEvent(uint32_t metadata, const void* data, uint32_t size) {
    return forwards_ ? ForwardBegin(metadata, data, size) : AnnotationCall{0, false};
  }
  AnnotationCall EndEvent() { return forwards_ ? ForwardEnd() : AnnotationCall{0, false}; }
  AnnotationCall SetMarker(uint32_t metadata, const void* data, uint32_t size) {
    return forwards_ ? ForwardMarker(metadata, data, size) : AnnotationCall{0, false};
  }

 private:
  AnnotationCall ForwardBegin(uint32_t metadata, const void* data, uint32_t size);
  AnnotationCall ForwardEnd();
  AnnotationCall ForwardMarker(uint32_t metadata, const void* data, uint32_t size);
  uint64_t Keep(MarkerKind kind, uint32_t metadata, const void* data, uint32_t size);
  D3D12DDI_HCOMMANDLIST handle() { return {&object_}; }

  std::shared_ptr<MarkerArena> arena_;
  OpenEvents open_events_;
};

// Any thread: a lock for each queue, taken where its markers are kept: in DRIVER_RETAIL, and in RUNTIME_ONLY if the user
// asked for what events carry.
class AnnotatedQueue : public AnnotatedChild {
 public:
  // `handle`: what the queue's record in the block has as its native handle; `native` if it is null.
  AnnotatedQueue(AnnotationRuntime& runtime, void* native, const void* handle = nullptr);

  // Each returns the EventID as described at AnnotationCall, 0 if the driver was not called; queues
  // have no breadcrumbs of their own.
  uint64_t BeginEvent(uint32_t metadata, const void* data, uint32_t size);
  uint64_t EndEvent();
  uint64_t SetMarker(uint32_t metadata, const void* data, uint32_t size);

  // `number` submissions were made so far: the dump shows between which of them a marker stands.
  void OnSubmit(uint64_t number) {
    submission_.store(static_cast<uint32_t>(number), std::memory_order_relaxed);
  }

 private:
  uint64_t Keep(MarkerKind kind, uint32_t metadata, const void* data, uint32_t size);
  bool Ignores() const { return !forwards_ && !keeps_; }
  D3D12DDI_HCOMMANDQUEUE handle() { return {&object_}; }

  const bool keeps_;  // also where the driver is not called
  std::mutex mutex_;
  MarkerArena arena_;
  OpenEvents open_events_;
  std::atomic<uint32_t> submission_{0};
};

// Sends a debug message to the callbacks of cairnSetMessageCallback. `runtime` names the device.
void GiveDebugMessage(const AnnotationRuntime& runtime, uint32_t id, const std::string& text);

}  // namespace cairn

#endif  // CAIRN_APP_ANNOTATIONS_RUNTIME_H_
