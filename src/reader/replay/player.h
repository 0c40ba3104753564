// SPDX-License-Identifier: Apache-2.0
//
// Plays a trace on a real device: each record in the order of its number, on one thread. Calls that
// wait are made where their results stand. Calls that would harm this process are skipped, with
// their numbers, and the rest is played; nothing beyond what the implementation of Direct3D 12 does
// with legal-looking calls can go wrong.
//
//   Result<std::unique_ptr<Player>> player = Player::Create(&trace, options);
//   CAIRN_RETURN_IF_ERROR((*player)->Run());
//
// Everything from one thread.
#ifndef CAIRN_READER_REPLAY_PLAYER_H_
#define CAIRN_READER_REPLAY_PLAYER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "d3d12abi/adapters.h"
#include "format/trace/trace_reader.h"
#include "reader/replay/device.h"
#include "reader/replay/kept_parts.h"

namespace cairn {

// An image as it left the GPU: rows without padding.
struct FrameImage {
  uint64_t frame = 0;
  uint64_t object = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t format = 0;  // DXGI_FORMAT
  std::vector<std::byte> pixels;
  uint64_t hash_low = 0;  // XXH3 128 of pixels
  uint64_t hash_high = 0;
};

// A subresource of a texture, as it was when the playback ended; rows without padding, slices of volumes
// one after another.
struct TextureImage {
  uint64_t object = 0;
  uint32_t subresource = 0;
  uint32_t mip = 0;
  uint32_t slice = 0;
  uint32_t plane = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t depth = 1;
  uint32_t format = 0;  // DXGI_FORMAT of the plane
  uint64_t row_bytes = 0;
  uint32_t row_count = 0;  // of a slice; compressed formats: rows of blocks
  bool is_target = false;  // something may draw into it
  std::vector<std::byte> pixels;
  std::string problem;  // why there are no pixels
};

// Calls to leave out, by their numbers. For bisect.
struct Omissions {
  std::unordered_set<uint64_t> calls;  // work of command lists, whole submissions, ...
  // (number of an ExecuteCommandLists call, index of the list): lists of a submission.
  std::unordered_set<uint64_t> lists;
  static constexpr uint64_t ListKey(uint64_t call, uint32_t index) { return call << 16 | index; }
};

// The first contents of new memory of the GPU. Memory that the CPU writes begins as zeros in any case, as recordings assume;
// textures of their own as they like.
enum class NewMemory : uint8_t {
  kAsItIs,         // as the device gives it
  kPromisedZeros,  // as zeros where Direct3D 12 promises them: without D3D12_HEAP_FLAG_CREATE_NOT_ZEROED
  kZeros,          // skipped writes then leave zeros, and not another resource's data
};

struct PlayerOptions {
  uint64_t first_frame = 0;           // frames before are played, but give no images
  uint64_t frame_end = ~uint64_t{0};  // the first that is not played
  uint64_t last_call = ~uint64_t{0};  // stop before a greater number
  bool original_pace = false;
  bool validate =
      false;  // compare readbacks and hashes of frames: kMismatch at the first difference
  // With validate: also compares hashes of resources' contents. All new memory of the GPU then
  // begins as zeros.
  bool validate_resources = false;
  bool images = false;                                      // call on_image for every frame
  uint64_t pad_resources_bytes = 0;                         // buffers get so much more
  uint64_t wait_timeout_ns = uint64_t{20} * 1'000'000'000;  // for a fence: then kHang
  // A fence may take three times as long as its whole frame took when it was recorded, if that is more. Not with
  // `canary`.
  bool wait_as_recorded = false;
  // The implementation of Direct3D 12 (reader/replay/device.h); "": that of this machine.
  std::string library;
  // The adapter that all devices are made on: its place in the enumeration, or a part of its name
  // (FindAdapter of reader/replay/adapter_choice.h). "": for each device the one that is most like the recorded one.
  std::string adapter;
  // Plays nothing: makes the devices, and compares with them what the trace asks of its own (PlayerResult::differences).
  bool check_only = false;
  // Called before each device is made, with the place of its adapter, where one is chosen. May be null.
  std::function<void(uint32_t place)> on_adapter;
  // For tests, with create_device: the adapters of the made-up machine. May be null: they are not known.
  std::function<std::vector<Adapter>()> list_adapters;
  // For tests: gives an ID3D12Device* with a reference for the caller, or null. Calls of COM methods
  // are those of Windows, unless `library` says otherwise.
  std::function<void*(uint32_t feature_level)> create_device;
  // Called now and then, and while waiting: true ends the playback with kOk after the current call.
  std::function<bool()> interrupted;
  Omissions omissions;
  std::optional<KeptParts> kept_parts;
  // With `canary`: called with the bytes when the submission has ended. May be null.
  BytesToRead bytes_to_read;
  std::function<void(std::span<const std::byte>)> on_bytes;
  // True: after every submission wait for it, then run a dispatch of our own that cannot fail, and
  // wait for that (a fault may surface one dispatch late). Work that takes longer than
  // wait_timeout_ns is then a hang even if it ends just before the check.
  bool canary = false;
  NewMemory new_memory = NewMemory::kAsItIs;
  std::function<void(FrameImage)> on_image;
  // Tell a layer that sees the playback where frames end: a marker "cairn:frame" on a queue of the
  // player's own, at the end of each.
  bool mark_frames = false;
  // Called at the end of the playback for the textures that live then, in the order of their
  // numbers. Gives all slices of the first mip of textures that can be drawn into, or, with
  // `every_subresource`, all subresources of all textures. If `textures` is not empty, only those
  // objects.
  std::function<void(TextureImage)> on_texture;
  bool every_subresource = false;
  std::unordered_set<uint64_t> textures;
  // Called with each of PlayerResult::notes when it is made: a process that dies cannot report it
  // later. May be null.
  std::function<void(const std::string& note)> on_note;
  // A search: a call that the device refuses although it succeeded when it was recorded ends the playback
  // (kRefused), for what it would have made fail is not there. Without it that call is left out.
  bool end_at_refusal = false;
  // Called for each device that was made. May be null.
  std::function<void(const DeviceFacts&)> on_device;
  // Called before each submission. May be null.
  std::function<void(uint64_t number)> on_submission;
  // Called when it changes: the first and the last submission that are not known to have ended; 0:
  // none. May be null.
  std::function<void(uint64_t first, uint64_t last)> on_unfinished;
  // The same of every call, left out or not. May be null.
  std::function<void(uint64_t number)> on_call;
  // The limit of the playback's cost (reader/replay/play_cost.h): beyond it Run returns
  // kUnsupported. UINT64_MAX: no limit.
  uint64_t most_cost_ns = ~uint64_t{0};
  // Called for every record, also those that are no calls, before it is played. May be null.
  std::function<void()> on_record;
  std::function<void(uint64_t frame)> on_frame;
  // Asked before each call, with its number, and may wait: true gives on_texture the textures as they are then, waits
  // of the GPU included, and asks again with the same number. May be null.
  std::function<bool(uint64_t number)> stops_before;
  // Left out like `omissions`; may be changed while stops_before is asked, and outlives the player. May be null.
  const Omissions* later_omissions = nullptr;
  // Textures that on_texture gets beside those that can be drawn into; may be changed at the same times. May be null.
  const std::unordered_set<uint64_t>* later_textures = nullptr;
};

// Calls and other records that were not played, of one kind: for the same reason, but for the numbers in it.
struct LeftOut {
  std::string what;    // of the first: "ID3D12Device::CreateFence: ..."
  uint64_t first = 0;  // its number
  uint64_t count = 0;
};

// A way in which a device of this machine is not like that of the recording.
struct DeviceDifference {
  enum class Kind : uint8_t {
    kFeature,     // another answer of CheckFeatureSupport
    kInterface,   // a method that the device has not
    kAllocation,  // another size or alignment of a resource
    kPlacement,   // a resource that does not fit where it was placed
    kStructure,   // more memory for acceleration structures
    kFurther,     // all that are not told one by one
  };
  Kind kind = Kind::kFeature;
  uint64_t number = 0;    // of the first call, or of the resource that is placed; 0: none
  uint64_t count = 0;     // of calls and resources
  bool prevents = false;  // something of the trace cannot be played as it was recorded
  std::string text;
};

// What lies in memory of the player's, because this device is another one than the recorded one and needs more.
struct MovedObjects {
  uint64_t structures = 0;  // acceleration structures
  uint64_t scratches = 0;   // builds, for their scratch memory
  uint64_t resources = 0;   // placed ones: each has a heap of its own
};

struct PlayerResult {
  std::vector<DeviceDifference> differences;  // with PlayerOptions::check_only
  uint64_t frames = 0;
  uint64_t calls = 0;
  // The number of calls that succeeded in the recording and were skipped. Calls that failed when
  // they were recorded do not count.
  uint64_t skipped = 0;
  std::vector<LeftOut>
      left_out;  // by kind, in the order of their first; the last is that of all further kinds
  MovedObjects moved;
  bool interrupted = false;
  std::vector<std::string> notes;  // on what was played
  uint64_t compared_readbacks = 0;
  uint64_t compared_frames = 0;
  uint64_t compared_resources = 0;  // subresources of them
  uint64_t compared_results = 0;    // calls that did and calls that failed as they had
  uint64_t not_compared = 0;        // with validate: recorded, but this replay cannot look at it
  // With canary: the slowest submission of those that ended. 0: there was none.
  uint64_t slowest_submission = 0;
  uint64_t slowest_submission_ns = 0;
};

// The reason why a playback ended early, beside Status.
enum class PlayerFailure {
  kNone,
  kRefused,  // no device can be made; with end_at_refusal: the device refused a call that had succeeded
  kMismatch,  // with validate
  kHang,      // a fence did not come in time
  kLost,      // a device is lost, and was not when the trace was recorded
  kCorrupt,   // the trace is damaged: what follows builds on what is lost
  // No property of the trace, and another play may not meet it: no memory; with canary also a queue
  // that cannot be waited for, a canary that cannot be made any more, and work whose end in time
  // was not observed.
  kUnclear,
};

class Player {
 public:
  // Makes no device yet: the trace's own creation does. Errors: kNotFound (no Direct3D 12 on this
  // machine; says which library is missing), kUnsupported; kInvalidArgument: there is no such adapter.
  static Result<std::unique_ptr<Player>> Create(TraceReader* trace, PlayerOptions options);
  virtual ~Player() = default;

  // Plays to the end. The status names the call: "call 18,233, ID3D12Device::CreateFence: ...".
  virtual Status Run() = 0;
  virtual PlayerFailure failure() const = 0;
  virtual uint64_t failed_call() const = 0;
  virtual const PlayerResult& result() const = 0;
  // Returns true, after Run(), if the GPU may still be at work, and nothing was released. The
  // process should leave with _Exit: drivers would wait for the GPU at exit, or free memory that it
  // uses.
  virtual bool abandoned() const = 0;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_PLAYER_H_
