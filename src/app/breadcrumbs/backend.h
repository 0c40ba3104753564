// SPDX-License-Identifier: Apache-2.0
//
// Backend: how one graphics API makes its GPU write words. One implementation a file. The context
// (context.h) decides what to write and when; a backend only records the write.
#ifndef CAIRN_APP_BREADCRUMBS_BACKEND_H_
#define CAIRN_APP_BREADCRUMBS_BACKEND_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/block/block.h"

namespace cairn {

enum class PipeLocation : uint8_t {
  kTop = 0,     // when the command processor reaches the write
  kBottom = 1,  // once all earlier work of the queue has finished
};

enum class WordKind : uint8_t { kReached = 0, kPassed = 1 };

enum class QueueType : uint32_t { kDirect = 0, kCompute = 1, kCopy = 2, kOther = 3 };

// The words that the GPU writes, inside the block: the backend imports this memory if it can, and
// otherwise keeps device-visible memory of its own and copies from it in Mirror().
struct WordRegion {
  std::byte* base = nullptr;   // page-aligned
  size_t size_bytes = 0;       // whole pages
  size_t progress_offset = 0;  // ProgressWords[recording_capacity]
  uint32_t recording_capacity = 0;
  size_t raw_markers_offset = 0;  // uint64_t[raw_marker_count]
  uint32_t raw_marker_count = 0;
  // The number of recordings used so far, the first ones: only these need mirroring. Null: all.
  const std::atomic<uint32_t>* recordings_used = nullptr;
};

// A command list while it is recorded; owned by the context, kept until ReleaseList.
struct BackendList {
  void* native = nullptr;  // VkCommandBuffer or ID3D12GraphicsCommandList*
  QueueType queue_type = QueueType::kDirect;
  uint32_t slot = 0;  // index of its ProgressWords
  bool reusable = false;
  bool inside_render_pass = false;
  // A write that would end the API's render pass below is left out rather than made: MarkerMode::kTop.
  bool keeps_render_passes = false;
  void* state = nullptr;  // the backend's own, created in BeginList
};

struct SourceFinding {
  std::string name;
  SourceState state = SourceState::kAbsent;
  std::string reason;
};

// The backend's findings and choices, which are stored in the block.
struct BackendDescription {
  Api api = Api::kNone;
  WriteMethod method = WriteMethod::kNone;
  WordMemory memory = WordMemory::kNone;
  uint32_t mirror_period_us = 0;  // > 0: the context calls Mirror() from a thread at this period
  std::string device_name;
  std::string driver_name;
  std::string device_notes;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::vector<SourceFinding> sources;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Fills in the facts known without GPU work: API, names and numbers of the device. May be called
  // before Initialize, which fills in the same facts again. In CAIRN_MODE_OFF, which has no
  // Initialize, it fills in the sources as well.
  virtual void Identify(BackendDescription* description) { (void)description; }

  // Called once, before anything else: verifies the write methods on the device by values read
  // back, chooses one and makes the words of `region` writable by the GPU. Fails if none works.
  virtual Status Initialize(const WordRegion& region, BackendDescription* description) = 0;

  // Called when recording of `list` starts. For a reusable list it records, at the list's start,
  // the commands that add one to `runs` (modulo kRunModulus) and set both words to 0.
  // Not on the hot path.
  virtual Status BeginList(BackendList& list) = 0;

  // Records a write of `value` into a progress word of the list. False if no write can be recorded
  // here (inside a render pass, say): nothing was recorded then. The hot path: no lock, and no
  // allocation once warm. One thread a list.
  virtual bool WriteProgress(BackendList& list, WordKind word, PipeLocation where,
                             uint32_t value) = 0;

  // Returns the work that is proven finished once the GPU gets past the last recorded command, by
  // barriers that were seen below the API: kEventDrains... One thread a list.
  virtual uint8_t DrainsHere(const BackendList& list) {
    (void)list;
    return 0;
  }

  // Records a write of 64 bits into a raw marker slot. `native` need not be a registered list.
  // May be called from several threads, each with its own command list.
  virtual Status WriteRaw(void* native, PipeLocation where, uint32_t index, uint64_t value) = 0;

  // Returns true, after Initialize, if the Vulkan layer lets the device do one piece of work at a
  // time. Otherwise there is no mode exact.
  virtual bool Serialises() const { return false; }
  // Mode exact, behind a write at the bottom of the pipe: whether a full barrier stands behind all work that
  // the list has so far, so that the next write at the top comes only once it has finished.
  virtual bool Serial(const BackendList& list) const {
    (void)list;
    return false;
  }

  // Returns true if a raw marker at the top of the pipe does not wait for earlier work. Otherwise
  // all raw markers are written at the bottom, even if the top was requested, and are recorded so.
  virtual bool TellsTopOfPipe() const { return true; }

  // The recording's slot will be used again: gives back what BeginList took.
  virtual void ReleaseList(BackendList& list) = 0;

  // Sets the device-visible copy of a slot's words to 0, if there is one. Called when the GPU is known
  // not to write them; the context clears the words in the block itself.
  virtual void ClearWords(uint32_t slot) { (void)slot; }

  // Copies the words from device-visible memory into the block, if they are mirrored. Safe in a
  // signal handler; may run on any thread, also several at once.
  virtual void Mirror() {}
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_BACKEND_H_
