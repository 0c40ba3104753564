// SPDX-License-Identifier: Apache-2.0
//
// GPU addresses that lie in buffers, where no call shows them: arguments of ExecuteIndirect, instances of
// acceleration structures, shader tables. They were recorded as the program wrote them; before the GPU
// reads them they are replaced by what they mean on this device.
//
//   calls note which bytes will be read as addresses, and what copies fill them:
//     addresses.Indirect(list, signature, buffer, offset, max_count);
//   before the lists are executed:
//     CAIRN_RETURN_IF_ERROR(addresses.Patch(lists, memory));
//
// Bytes that copies in the same submission bring are followed back to where they come from.
// Addresses that shaders compute need no patch: they compute with this device's. Addresses that
// shaders merely pass on from unknown places are missed. Pure: the caller reads and writes the
// buffers. One thread.
#ifndef CAIRN_READER_REPLAY_BUFFER_ADDRESSES_H_
#define CAIRN_READER_REPLAY_BUFFER_ADDRESSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {

// The positions of addresses in the arguments of a command signature.
struct IndirectLayout {
  uint32_t stride_bytes = 0;
  std::vector<uint32_t> addresses;      // offsets in one set of arguments
  std::vector<uint32_t> shader_tables;  // offsets of D3D12_DISPATCH_RAYS_DESC
};
// Types that are not known end the layout: what stands behind them has no known place.
IndirectLayout LayoutOfSignature(const D3D12_COMMAND_SIGNATURE_DESC& desc);

using ShaderIdentifier = std::array<std::byte, 32>;

class BufferAddresses {
 public:
  // Buffers by their object numbers, and what recorded values mean. Implemented by the player.
  class Memory {
   public:
    struct Place {
      uint64_t buffer = 0;
      uint64_t offset_bytes = 0;
    };
    virtual ~Memory() = default;
    virtual uint64_t SizeOf(uint64_t buffer) = 0;  // 0: there is none
    virtual Result<std::vector<std::byte>> Read(uint64_t buffer, uint64_t offset_bytes,
                                                uint64_t size_bytes) = 0;
    virtual Status Write(uint64_t buffer, uint64_t offset_bytes,
                         std::span<const std::byte> bytes) = 0;
    // nullopt: it means nothing here, and stays as it is.
    virtual std::optional<uint64_t> RealAddress(uint64_t recorded) = 0;
    virtual std::optional<uint64_t> RealDescriptor(uint64_t recorded) = 0;
    virtual std::optional<Place> PlaceOf(uint64_t recorded_address) = 0;
  };

  void AddSignature(uint64_t object, IndirectLayout layout);
  // Adds the results of GetShaderIdentifier in the recording and now.
  void AddIdentifier(const ShaderIdentifier& recorded, const ShaderIdentifier& real);
  void Remove(uint64_t object);  // a signature, a list or a buffer ends

  // Record the commands of a list, in order.
  void Reset(uint64_t list);
  void Copy(uint64_t list, uint64_t to, uint64_t to_offset, uint64_t from, uint64_t from_offset,
            uint64_t size_bytes);
  void Indirect(uint64_t list, uint64_t signature, uint64_t buffer, uint64_t offset_bytes,
                uint32_t max_count);
  // `pointers`: the buffer holds addresses of instances instead of instances.
  void Instances(uint64_t list, uint64_t buffer, uint64_t offset_bytes, uint32_t count,
                 bool pointers);
  void ShaderTable(uint64_t list, uint64_t buffer, uint64_t offset_bytes, uint64_t size_bytes,
                   uint64_t stride_bytes);
  // Local root arguments of the nodes of a work graph.
  void RootArguments(uint64_t list, uint64_t buffer, uint64_t offset_bytes, uint64_t size_bytes,
                     uint64_t stride_bytes);
  // The D3D12_NODE_GPU_INPUT of a work graph; `several`: its D3D12_MULTI_NODE_GPU_INPUT.
  void NodeInput(uint64_t list, uint64_t buffer, uint64_t offset_bytes, bool several);

  // A list of them would have something to patch.
  bool NeedsPatch(std::span<const uint64_t> lists) const;
  // Patches what the lists of one submission read. Errors: those of `memory`; kCorrupt: more addresses
  // than kMostWords, each as often as it is read, or as much work with copies.
  Status Patch(std::span<const uint64_t> lists, Memory* memory);
  uint64_t patched() const { return patched_; }  // values replaced so far

  static constexpr uint64_t kMostWords = uint64_t{1} << 22;  // of one submission

 private:
  enum class Kind : uint8_t {
    kCopy,
    kIndirect,
    kInstances,
    kInstancePointers,
    kShaderTable,
    kRootArguments,
    kNodeInput,
    kNodeInputs
  };
  struct Step {
    Kind kind;
    uint64_t buffer;  // kCopy: the target
    uint64_t offset;
    uint64_t count;  // kCopy, kShaderTable, kRootArguments: bytes
    uint64_t other;  // kCopy: source; kIndirect: signature; kShaderTable, kRootArguments: stride
    uint64_t other_offset;
  };
  enum class WordKind : uint8_t { kAddress, kAddressOrDescriptor, kIdentifier };
  using PlaceKey = std::pair<uint64_t, uint64_t>;  // buffer, offset
  struct Patched {
    uint64_t recorded;
    uint64_t real;
  };
  // The words of a submission that are to be patched, in order of their places.
  using Words = std::map<PlaceKey, WordKind>;
  // So many steps are as much work as a word: programs copy a lot before they read.
  static constexpr uint64_t kStepsOfAttempt = 64;

  Status Collect(std::span<const Step> steps, Memory* memory, Words* words);
  Status CollectIndirect(std::span<const Step> before, const Step& step, Memory* memory,
                         Words* words);
  Status CollectTable(std::span<const Step> before, const Step& step, Memory* memory, Words* words);
  Status CollectArguments(std::span<const Step> before, const Step& step, Memory* memory,
                          Words* words);
  Status CollectInputs(std::span<const Step> before, const Step& step, Memory* memory,
                       Words* words);
  Status CollectPointed(std::span<const Step> before, const Step& step, Memory* memory,
                        Words* words);
  // Follows copies back to where the bytes at a place come from.
  Status AddWord(std::span<const Step> before, PlaceKey place, WordKind kind, Memory* memory,
                 Words* words);
  PlaceKey SourceOf(std::span<const Step> before, PlaceKey place, uint64_t size_bytes);
  // Return the program's own words at places, even if they were patched meanwhile; 0 outside of a buffer.
  Result<std::vector<uint64_t>> RecordedAt(std::span<const PlaceKey> places, Memory* memory);
  Result<uint64_t> RecordedAt(PlaceKey place, Memory* memory);
  Status PatchRun(Words::const_iterator first, Words::const_iterator last, Memory* memory);
  bool PatchWord(PlaceKey place, WordKind kind, std::byte* bytes, Memory* memory);

  std::unordered_map<uint64_t, IndirectLayout> signatures_;
  std::map<ShaderIdentifier, ShaderIdentifier> identifiers_;
  std::unordered_map<uint64_t, std::vector<Step>> lists_;
  std::map<PlaceKey, Patched> patched_places_;
  uint64_t attempts_ = 0;  // of the submission in progress
  uint64_t patched_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_BUFFER_ADDRESSES_H_
