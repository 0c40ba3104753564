// SPDX-License-Identifier: Apache-2.0
//
// The contents of memory in a replay: writes of the CPU, contents with which a recording began, zeros
// in new memory, and the comparison of what the program and the recording read with what is there
// now.
//
// PlayerImpl hands over the records, and new objects before they are used. One thread.
#ifndef CAIRN_READER_REPLAY_MEMORY_PLAYER_H_
#define CAIRN_READER_REPLAY_MEMORY_PLAYER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"
#include "reader/replay/buffer_addresses.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/play_log.h"
#include "reader/replay/player.h"
#include "reader/replay/replay_devices.h"
#include "reader/replay/replay_objects.h"
#include "reader/replay/wait_engine.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Errors end the playback. What cannot be played or compared is none: the log has it. Memory: pieces of
// textures until their last piece has come.
class MemoryPlayer {
 public:
  // The parts that it works with; all outlive it. `check_cost`: returns an error once the playback has
  // cost too much.
  struct Parts {
    const PlayerOptions& options;
    BlobSource* blobs;
    ReplayObjects* objects;
    ReplayDevices* devices;
    WaitEngine* waits;
    PlayLog* log;
    PlayCost* cost;
    BufferAddresses* addresses;
    std::function<Status()> check_cost;
  };
  explicit MemoryPlayer(Parts parts)
      : options_(parts.options),
        blobs_(parts.blobs),
        objects_(parts.objects),
        devices_(parts.devices),
        waits_(parts.waits),
        log_(parts.log),
        cost_(parts.cost),
        addresses_(parts.addresses),
        check_cost_(std::move(parts.check_cost)) {}

  // Writes what the CPU wrote into a buffer (kMemory).
  Status Write(const Record& record);
  // Writes contents with which the recording began, and leaves the resource in the state that it had
  // then (kContents).
  Status WriteContents(const Record& record);
  // Begins a new object. Memory that the CPU writes begins as zeros, as recordings assume: of a buffer with
  // its own (`committed`), and of heaps. That of the GPU begins as options.new_memory says; with validate_resources as
  // zeros, and textures do, too.
  Status Clear(ReplayObject* object, uint32_t initial_state, bool committed);

  // Compares what the program read (kReadback), or what a resource held when it ended (kResourceHash).
  // kMismatch in the log: it is not the same.
  Status CompareReadback(const Record& record);
  Status CompareHash(const Record& record);
  // A buffer gets what is the driver's own, sizes of acceleration structures or the state of a work graph,
  // or a copy of a buffer that has some: it is compared no longer.
  void AddOwn(uint64_t buffer) { own_.insert(buffer); }
  void CopyOwn(uint64_t to, uint64_t from) {
    if (own_.contains(from)) own_.insert(to);
  }

  // Returns the first subresource of a texture, once the GPU has done what it has. kUnsupported: there
  // is none that can be read.
  Result<FrameImage> ReadImage(uint64_t object, uint64_t frame);
  // Gives options.on_texture the textures that it asks for.
  Status ReadTextures();

 private:
  // Returns the memory of a buffer, mapped if it is not. `unmap`: set if it is to be unmapped afterwards.
  static Result<std::byte*> BufferMemory(ReplayObject* resource, bool* unmap);
  template <typename Body>
  Status ReadBytes(const Record& record, Body* body, std::span<const std::byte>* bytes,
                   ReplayObject** object);
  Status WriteContents(ReplayObject* object, DeviceContext* context, const ContentsBody& body,
                       std::span<const std::byte> bytes);
  Status Transition(ReplayObject* object, DeviceContext* context, uint32_t subresource,
                    uint32_t state);
  Status ClearHeap(ReplayObject* heap);
  bool BeginsAsZeros(const D3D12_HEAP_PROPERTIES& heap, D3D12_HEAP_FLAGS flags) const;
  Status ClearBuffer(ID3D12Resource* buffer, DeviceContext* context, D3D12_RESOURCE_STATES state);
  Status ClearTexture(ReplayObject* texture, uint32_t initial_state);
  Status ReadTexture(ReplayObject* texture);

  const PlayerOptions& options_;
  BlobSource* const blobs_;
  ReplayObjects* const objects_;
  ReplayDevices* const devices_;
  WaitEngine* const waits_;
  PlayLog* const log_;
  PlayCost* const cost_;
  BufferAddresses* const addresses_;
  const std::function<Status()> check_cost_;
  Arena arena_;
  // Textures of which not all pieces have come, by (resource, subresource).
  std::map<std::pair<uint64_t, uint32_t>, std::vector<std::byte>> contents_;
  std::set<uint64_t> not_cleared_;    // textures that do not begin as zeros, though asked for
  std::set<uint64_t> with_contents_;  // resources that a recording began with
  std::set<uint64_t> own_;            // buffers with what is the driver's own
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_MEMORY_PLAYER_H_
