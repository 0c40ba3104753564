// SPDX-License-Identifier: Apache-2.0
//
// GPU addresses that lie in buffers, where no call shows them: arguments of ExecuteIndirect, instances of
// acceleration structures, shader tables. They were recorded as the program wrote them; before the GPU
// reads them they are replaced by what they mean on this device.
//
//   calls note which bytes will be read as addresses, and what copies fill them:
//     addresses.Indirect(list, signature, buffer, offset, max_count);
//   before the lists are executed, in as many parts as CountTogether() says:
//     CAIRN_RETURN_IF_ERROR(addresses.Patch(lists, memory));
//   and behind them:
//     Result<uint64_t> stale = addresses.CountStale(memory);
//
// Bytes that copies in the same submission bring are followed back to where they come from.
// Addresses that shaders pass on in one list and that a later list consumes are patched between the
// two; those that the same list consumes are consumed as they were recorded, and counted. Pure: the
// caller reads and writes the buffers, all of a submission at once. One thread.
#ifndef CAIRN_READER_REPLAY_BUFFER_ADDRESSES_H_
#define CAIRN_READER_REPLAY_BUFFER_ADDRESSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"
#include "reader/replay/patched_values.h"

namespace cairn {

// D3D12_INDIRECT_ARGUMENT_TYPE_INCREMENTING_CONSTANT: newer than the headers.
constexpr uint32_t kIncrementingConstant = 11;

// The positions of addresses in the arguments of a command signature.
struct IndirectLayout {
  uint32_t stride_bytes = 0;
  std::vector<uint32_t> addresses;      // offsets in one set of arguments
  std::vector<uint32_t> structures;     // of them: those that acceleration structures may have
  std::vector<uint32_t> shader_tables;  // offsets of D3D12_DISPATCH_RAYS_DESC
  struct Argument {
    uint32_t type = 0;  // D3D12_INDIRECT_ARGUMENT_TYPE
    uint32_t offset_bytes = 0;
    uint32_t size_bytes = 0;  // no more than there is before the next set
    uint32_t parameter = 0;   // of the root signature; of a vertex buffer its slot
  };
  std::vector<Argument> arguments;
  // A D3D12_INDIRECT_ARGUMENT_TYPE that is not known ends the layout: arguments behind it have no known place.
  std::optional<uint32_t> unknown_type;
};
IndirectLayout LayoutOfSignature(const D3D12_COMMAND_SIGNATURE_DESC& desc);

using ShaderIdentifier = std::array<std::byte, 32>;

// The elements of a table or array that stay as they are; the others become null: no shader, no instance.
struct KeptElements {
  uint64_t first = 0;
  uint64_t end = ~uint64_t{0};
  bool all() const { return first == 0 && end == ~uint64_t{0}; }
  bool Has(uint64_t index) const { return index >= first && index < end; }
};

// Returns how many records a shader table has; `stride_bytes` 0: one.
uint64_t CountRecords(uint64_t size_bytes, uint64_t stride_bytes);

class BufferAddresses {
 public:
  using Kept = KeptElements;
  // Buffers by their object numbers, and what recorded values mean. Implemented by the player.
  class Memory {
   public:
    struct Place {
      uint64_t buffer = 0;
      uint64_t offset_bytes = 0;
    };
    struct Piece {
      uint64_t buffer = 0;
      uint64_t offset_bytes = 0;
      uint64_t size_bytes = 0;
    };
    virtual ~Memory() = default;
    virtual uint64_t SizeOf(uint64_t buffer) = 0;  // 0: there is none
    // Only the CPU writes this buffer, and Overwrite() is told.
    virtual bool IsOfCpu(uint64_t buffer) = 0;
    // Shaders may write this buffer.
    virtual bool IsOfShaders(uint64_t buffer) = 0;
    // Returns the bytes of the pieces, one after the other. Waits for the GPU once at most.
    virtual Result<std::vector<std::byte>> Read(std::span<const Piece> pieces) = 0;
    // Writes what Read() would return then. Does not wait.
    virtual Status Write(std::span<const Piece> pieces, std::span<const std::byte> bytes) = 0;
    // nullopt: it means nothing here, and stays as it is.
    virtual std::optional<uint64_t> RealAddress(uint64_t recorded) = 0;
    virtual std::optional<uint64_t> RealDescriptor(uint64_t recorded) = 0;
    virtual std::optional<Place> PlaceOf(uint64_t recorded_address) = 0;
    // Returns where a structure lies now that is, or was, at an address of this device; otherwise that address.
    virtual uint64_t StructureAt(uint64_t real) { return real; }
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
                 bool pointers, Kept kept = {});
  void ShaderTable(uint64_t list, uint64_t buffer, uint64_t offset_bytes, uint64_t size_bytes,
                   uint64_t stride_bytes, Kept kept = {});
  // Local root arguments of the nodes of a work graph.
  void RootArguments(uint64_t list, uint64_t buffer, uint64_t offset_bytes, uint64_t size_bytes,
                     uint64_t stride_bytes);
  // The D3D12_NODE_GPU_INPUT of a work graph; `several`: its D3D12_MULTI_NODE_GPU_INPUT.
  void NodeInput(uint64_t list, uint64_t buffer, uint64_t offset_bytes, bool several);
  // The list executes what the bundle has recorded by now. The bundle takes no more before its Reset().
  void Bundle(uint64_t list, uint64_t bundle);
  // The list goes on when shaders have written a buffer, or, with kAnyBuffer, whichever they may write.
  void ShadersWrote(uint64_t list, uint64_t buffer);
  static constexpr uint64_t kAnyBuffer = 0;

  // The CPU writes these bytes of a buffer next. Calls `restore(offset, bytes)` for each value that was
  // replaced and that the bytes cover in part: both parts have to be of the recorded value.
  template <typename Restore>
  void Overwrite(uint64_t buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const Restore& restore) {
    const auto words = patched_words_.find(buffer);
    if (words != patched_words_.end()) {
      words->second.Overwrite(offset_bytes, size_bytes, restore);
    }
    const auto identifiers = patched_identifiers_.find(buffer);
    if (identifiers != patched_identifiers_.end()) {
      identifiers->second.Overwrite(offset_bytes, size_bytes, restore);
    }
  }

  // Changes bytes of a buffer to what the recording would have there. False: nobody knows what that is, because
  // a value that a copy may have brought means something both as it was recorded and on this device.
  bool MapBack(uint64_t buffer, uint64_t offset_bytes, Memory* memory, std::span<std::byte> bytes);

  // A list of them would have something to patch.
  bool NeedsPatch(std::span<const uint64_t> lists) const;
  // Returns how many of the lists, from the first one on, can be executed together: the next one reads
  // addresses from a buffer that shaders write in those, or they have more than kMostWords commands.
  size_t CountTogether(std::span<const uint64_t> lists, Memory* memory) const;
  // Patches what the lists of one submission read. Reads once, and once more what stands behind addresses
  // in buffers; writes once. Errors: those of `memory`; kCorrupt: more addresses or commands than kMostWords,
  // each as often as it is read or executed, or as much work with copies.
  Status Patch(std::span<const uint64_t> lists, Memory* memory);
  // Returns how many values the lists of the last Patch() have read as they were recorded, because
  // their own shaders wrote them. Reads only if there may be some.
  bool MayBeStale() const { return !written_.empty(); }
  // The buffers of the last lists may end.
  void ForgetStale() { written_.clear(); }
  Result<uint64_t> CountStale(Memory* memory);
  uint64_t patched() const { return patched_; }  // values replaced so far
  // Elements that were to become null did not, or took others along: shaders of their own submission write them,
  // other commands read their bytes, or they lie in no buffer.
  bool missed_elements() const { return missed_elements_; }

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
    kNodeInputs,
    kShadersWrote,
    kBundle
  };
  struct Step {
    Kind kind;
    uint64_t buffer;  // kCopy: the target
    uint64_t offset;
    uint64_t count;  // kCopy, kShaderTable, kRootArguments: bytes
    // kCopy: source; kIndirect: signature; kShaderTable, kRootArguments: stride; kBundle: its index
    uint64_t other;
    uint64_t other_offset;
    Kept kept = {};  // kInstances, kInstancePointers, kShaderTable
    bool Consumes() const {
      return kind != Kind::kCopy && kind != Kind::kShadersWrote && kind != Kind::kBundle;
    }
  };
  // The commands of a list or of a bundle. Lists share the recordings of the bundles that they execute, which
  // may be recorded anew meanwhile. Bundles execute no bundles.
  struct Recording {
    std::vector<Step> steps;
    std::vector<std::shared_ptr<const Recording>> bundles;
    bool consumes = false;  // it, or a bundle, has something to patch
    bool executed = false;  // as a bundle: nothing is added
  };
  // kValue: it is read, and stays.
  // kAddress: never of a structure. kAddressOrDescriptor: perhaps of a structure.
  // kNullAddress, kNullIdentifier: it becomes zeros.
  enum class WordKind : uint8_t {
    kValue,
    kAddress,
    kStructure,
    kAddressOrDescriptor,
    kIdentifier,
    kNullAddress,
    kNullIdentifier
  };
  static bool IsNull(WordKind kind) {
    return kind == WordKind::kNullAddress || kind == WordKind::kNullIdentifier;
  }
  using PlaceKey = std::pair<uint64_t, uint64_t>;  // buffer, offset
  struct Word {
    PlaceKey place;
    WordKind kind;
    bool known = false;  // it holds what is known without a read
    uint64_t at = 0;     // its bytes in `bytes_`
    uint64_t size() const {
      const bool identifier = kind == WordKind::kIdentifier || kind == WordKind::kNullIdentifier;
      return identifier ? sizeof(ShaderIdentifier) : sizeof(uint64_t);
    }
  };
  // In order of their places once Sort() was called; then each place once: with a kind that makes it null, or the
  // first of its kinds but kValue.
  using Words = std::vector<Word>;
  // The steps of a submission, those of bundles where they are executed, and where each buffer is written.
  struct Timeline {
    std::vector<Step> steps;
    std::unordered_map<uint64_t, std::vector<size_t>> into;  // steps, by the buffer that they write
  };
  static constexpr uint64_t kWordBytes = sizeof(uint64_t);
  static constexpr uint64_t kIdentifierBytes = sizeof(ShaderIdentifier);
  // So many steps are as much work as a word: programs copy a lot before they read.
  static constexpr uint64_t kStepsOfAttempt = 64;

  void Add(uint64_t list, const Step& step);
  // Adds all steps of a list, if there are no more than kMostWords then. False: there are.
  bool AddSteps(uint64_t list, std::vector<Step>* steps) const;
  Result<Timeline> TimelineOf(std::span<const uint64_t> lists) const;
  // Collect what is known without a look into buffers, and what stands behind it.
  Status Collect(const Timeline& timeline, Memory* memory, Words* words);
  Status CollectBehind(const Timeline& timeline, Memory* memory, const Words& values, Words* words);
  Status CollectIndirect(const Timeline& timeline, size_t step, Memory* memory, Words* words);
  Status CollectIndirectTables(const Timeline& timeline, size_t step, Memory* memory,
                               const Words& values, Words* words);
  Status CollectTable(const Timeline& timeline, size_t before, const Step& step, Memory* memory,
                      Words* words);
  Status CollectArguments(const Timeline& timeline, size_t step, Memory* memory, Words* words);
  Status CollectInputs(const Timeline& timeline, size_t step, Memory* memory, const Words& values,
                       Words* words);
  Status CollectPointed(const Timeline& timeline, size_t step, Memory* memory, const Words& values,
                        Words* words);
  // Adds words at a distance of `stride`, as many as there are room for.
  Status AddWords(const Timeline& timeline, size_t step, uint64_t first, uint64_t stride,
                  uint64_t count, WordKind kind, Memory* memory, Words* words);
  // Follows copies back to where the bytes at a place come from, before step `before`.
  Status AddWord(const Timeline& timeline, size_t before, PlaceKey place, WordKind kind,
                 Memory* memory, Words* words);
  // `written`: where shaders may have written the bytes since; unchanged if they have not.
  PlaceKey SourceOf(const Timeline& timeline, size_t before, PlaceKey place, uint64_t size_bytes,
                    Memory* memory, std::optional<PlaceKey>* written);
  void Sort(Words* words);
  // Sorted words, each kind of a place still there: notes nulls whose bytes others read.
  void NoteSharedNulls(const Words& words);
  // Reads into `bytes_` what is not known.
  Status ReadWords(Words* words, Memory* memory);
  // Returns the program's own word at a place, even if it was patched meanwhile; 0 if it was not read.
  uint64_t RecordedAt(const Timeline& timeline, size_t before, PlaceKey place, Memory* memory,
                      const Words& words);
  Status PatchWords(const Words& words, Memory* memory);
  // Changes `bytes` to what they mean here. False: they do already.
  struct Added;
  bool MakeNull(const Word& word, std::byte* bytes, Memory* memory, Added* added);
  bool PatchIdentifier(const Word& word, std::byte* bytes, Added* added);
  bool PatchWord(const Word& word, std::byte* bytes, Memory* memory, Added* added);
  static std::optional<uint64_t> RealOf(WordKind kind, uint64_t recorded, Memory* memory);
  bool IsStale(const Word& word, const std::byte* bytes, Memory* memory) const;

  std::unordered_map<uint64_t, IndirectLayout> signatures_;
  std::map<ShaderIdentifier, ShaderIdentifier> identifiers_;
  std::unordered_map<uint64_t, std::shared_ptr<Recording>> lists_;
  // By buffer.
  std::unordered_map<uint64_t, PatchedValues<uint64_t>> patched_words_;
  std::unordered_map<uint64_t, PatchedValues<ShaderIdentifier>> patched_identifiers_;
  std::vector<std::byte> bytes_;  // of the submission in progress
  Words written_;                 // by its own shaders, perhaps
  uint64_t attempts_ = 0;         // of it
  uint64_t patched_ = 0;
  bool missed_elements_ = false;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_BUFFER_ADDRESSES_H_
