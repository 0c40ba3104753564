// SPDX-License-Identifier: Apache-2.0
//
// The player, once for each calling convention (reader/replay/player.h chooses). It goes through the
// records in their order, makes the calls, and hands to its parts what is theirs: they know nothing of
// it, and each has a test of its own (README.md). One thread.
#ifndef CAIRN_READER_REPLAY_PLAYER_IMPL_H_
#define CAIRN_READER_REPLAY_PLAYER_IMPL_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "d3d12abi/resource_states.h"
#include "d3d12gen/roles.h"
#include "format/calls/import_facts.h"
#include "reader/replay/adapter_choice.h"
#include "reader/replay/buffer_addresses.h"
#include "reader/replay/call_in_progress.h"
#include "reader/replay/descriptor_views.h"
#include "reader/replay/device.h"
#include "reader/replay/device_check.h"
#include "reader/replay/list_bindings.h"
#include "reader/replay/memory_player.h"
#include "reader/replay/own_structures.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/play_log.h"
#include "reader/replay/player.h"
#include "reader/replay/replay_devices.h"
#include "reader/replay/replay_objects.h"
#include "reader/replay/replay_programs.h"
#include "reader/replay/replay_values.h"
#include "reader/replay/structure_player.h"
#include "reader/replay/unrepeatable.h"
#include "reader/replay/wait_engine.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The reason to skip a call that opens an object of which the trace has no facts.
inline constexpr char kNoImport[] = "no replay has what it opens";

std::unique_ptr<Player> MakePlayer(TraceReader* trace, PlayerOptions options, D3D12Library library,
                                   AdapterChoice adapters);

class PlayerImpl final : public Player {
 public:
  PlayerImpl(TraceReader* trace, PlayerOptions options, D3D12Library library,
             AdapterChoice adapters);
  ~PlayerImpl() override;

  Status Run() override;
  PlayerFailure failure() const override { return log_.failure(); }
  uint64_t failed_call() const override { return log_.failed_call(); }
  const PlayerResult& result() const override { return log_.result(); }
  bool abandoned() const override { return abandoned_; }

 private:
  // The state of a call until its results come in the trace.
  struct Pending {
    Method method = Method::ID3D12Object_GetPrivateData;
    bool made = false;
    HRESULT result = S_OK;
    ComPtr<IUnknown> created;
    uint64_t object = 0;
    uint32_t initial_state = 0;  // of the resource that was created
    bool committed = false;      // it has memory of its own
    // kAwait without an event, kCompletedValue: the call takes place when its result stands.
    std::vector<FenceValue> waits;
    bool waits_for_any = false;     // one of them is enough
    CreationFacts facts;            // of what it makes
    bool claimed = false;           // a record has said which object that is
    std::string left_out;           // why the call was not made at all
    bool device_lacks = false;      // because of what this device has not
    bool was_unknown = false;       // its list, before this call was left out
    uint32_t feature = 0;           // of CheckFeatureSupport
    std::vector<std::byte> answer;  // what this device said
  };

  // player_impl.cc: records.
  Status PlayAll();
  Status Play(const Record& record);
  // Looks at a record with options.check_only.
  Status Check(const Record& record);
  Status OnCall(const Record& record);
  Status OnResult(const Record& record);
  Status OnObject(const Record& record);
  Status OnObjectEnd(const Record& record);
  Status OnNote(const Record& record);
  Status OnFenceReached(const Record& record);
  Status OnCreated(const Record& record, const ObjectBody& body, Chain chain,
                   std::span<const std::byte> facts, Pending* creation);
  Status AddObject(const Record& record, const ObjectBody& body, Chain chain, IUnknown* real,
                   uint32_t initial_state, std::span<const std::byte> facts);
  // kUnsupported: it is there, and what the trace says of it is not so.
  Status AddFacts(const Record& record, const ObjectBody& body, ReplayObject* object,
                  uint32_t initial_state, std::span<const std::byte> facts);
  Status CreateImage(const Record& record, const ObjectBody& body,
                     std::span<const std::byte> facts);
  // player_imports.cc: objects of this replay's own in place of those that the program opened.
  Status OnImported(const Record& record, const ObjectBody& body, Chain chain,
                    std::span<const std::byte> facts, Pending* opening);
  Status OpenHeap(const Record& record, const ObjectBody& body, const ImportFacts& import,
                  Pending* opening);
  Status OpenShared(const Record& record, const ObjectBody& body, Chain chain,
                    std::span<const std::byte> facts, const ImportFacts& import, Pending* opening);
  ComPtr<IUnknown> OpenOriginal(const ReplayObject& original, DeviceContext* device);
  HRESULT MakeInPlace(DeviceContext* context, Chain chain, std::span<const std::byte> facts,
                      const ImportFacts& import, ComPtr<IUnknown>* made) const;
  Status SkipOpening(const Record& record, std::string why, HRESULT result, Pending* opening);
  // Arguments of a resource that is placed in such a heap.
  void AdjustPlaced(CallInProgress* call);
  // Gives the textures as they are, if that is wanted before this call.
  Status StopBefore(uint64_t call);
  // False: nothing is left out of this playback, so far.
  bool LeavesOut() const {
    return !options_.omissions.calls.empty() || options_.kept_parts.has_value() ||
           options_.later_omissions != nullptr;
  }
  bool IsLeftOut(uint64_t call) const;
  bool IsLeftOut(uint64_t submission, uint32_t list) const;
  Status Finish();

  // player_devices.cc: devices.
  Status OnDevice(const Record& record);
  Status CreateDevice(D3D_FEATURE_LEVEL level, std::optional<uint32_t> place,
                      ComPtr<ID3D12Device>* device, HRESULT* result);
  void NoteAdapter(uint64_t device, const RecordedAdapter& recorded, std::optional<uint32_t> place);
  std::string AdapterInWords(std::optional<uint32_t> place) const;
  void TellDevice(ID3D12Device* device) const;

  // player_calls.cc: calls.
  Status MakeCall(CallInProgress* call);
  // The pointer for the interface that declares the method, where it is not among those of the object's version.
  // kNotFound: this device has not that interface; kCorrupt.
  Result<void*> Target(const CallInProgress& call);
  // Skips the call. The call's result, if it has one, shows if this is a loss.
  Status LeaveOutCall(const CallInProgress& call, const std::string& why,
                      bool device_lacks = false);
  void NoteRecordedLoss(const Record& record, HRESULT recorded);
  Status JudgeResult(const Pending& pending, uint64_t call, HRESULT recorded);
  Status AwaitResult(const Pending& pending, uint64_t call, HRESULT recorded,
                     std::span<const std::byte> results);
  Pending& AddPending(const CallInProgress& call);
  void EndPending(uint64_t call, const Pending& pending);
  // Returns true if the interface that declares the method is the object's version, or one before it.
  bool HasMethod(const CallInProgress& call) {
    const InterfaceInfo* const version = call.object->version;
    const InterfaceInfo*& last = method_facts_[static_cast<size_t>(call.method)].version;
    if (version == last && version != nullptr) return true;
    const bool has_it = DerivesFrom(version, InterfaceOf(call.method));
    if (has_it) last = version;
    return has_it;
  }
  Status Decode(CallInProgress* call);
  bool MarksFrame(CallInProgress* call);
  Status Make(CallInProgress* call, void* target);
  Status Adjust(CallInProgress* call);
  // Replaces a null that this implementation would dereference with an argument that means the
  // same.
  Status ReplaceNull(CallInProgress* call);
  Result<uint64_t> AddressOfZeros(DeviceContext* context);
  bool CopyPadded(CallInProgress* call, void* target);
  Status LoadPipeline(CallInProgress* call);
  Status Execute(CallInProgress* call, void* target);
  // The parts that the playback keeps of this call, if it does not keep all.
  const KeptParts* KeptOf(const CallInProgress& call) const;
  // Leaves the commands of an ExecuteIndirect that are kept.
  void CutCommands(CallInProgress* call);
  void GiveBytes(uint64_t submission, uint64_t queue_number, DeviceContext* context,
                 ID3D12CommandQueue* queue);
  Status RememberWait(CallInProgress* call);
  Status RemoveDevice(CallInProgress* call, void* target);
  Status MapResource(CallInProgress* call, void* target);
  void NoteStates(CallInProgress* call);
  // Notes what the implementation was given in place of what the program had bound.
  void NoteSubstitutes(const CallInProgress& call);
  void KeepPending(CallInProgress* call, const void* result);
  Status AfterCall(CallInProgress* call);
  Status AskFeature(CallInProgress* call, void* target);
  Status CompareFeature(const Record& record, const Pending& pending,
                        std::span<const std::byte> results);
  std::string Differences() const;

  // player_checks.cc, player_tiles.cc: check the places that a call names, before it is made. An
  // error gives the reason to skip the call: it would harm this process, it would do nothing, or
  // this implementation cannot make it.
  Status CheckCall(CallInProgress* call);
  Status CheckArguments(CallInProgress* call);
  Status CheckCopies(CallInProgress* call);
  Status CheckCopyOfAll(const CallInProgress& call, const ReplayObject& to,
                        const ReplayObject& from);
  Status CheckBarriers(CallInProgress* call);
  Status CheckTiles(CallInProgress* call);
  // Waits for tile mappings, which queues update when their turn comes, before the player uses a queue of its own.
  Status AwaitTileMappings();
  Status CheckRanges(CallInProgress* call);

  // player_meta_commands.cc: what meta commands are given. Others are left as they are.
  Status TranslateMetaParameters(CallInProgress* call);
  Status TranslateMetaParameter(const D3D12_META_COMMAND_PARAMETER_DESC& parameter);

  // player_frames.cc: the ends of frames.
  Status OnFrame(const Record& record);
  bool IsAskedFor(uint64_t frame) const;
  Status MarkFrame();
  // Returns the recorded duration of the current frame; 0 if unknown.
  uint64_t RecordedFrameNs();
  void Pace(uint64_t time_ns);

  // player_moves.cc: what needs more memory on another device than it had. An error ends the playback; `skipped`: the
  // call is, and was handled.
  Status MakeRoom(CallInProgress* call, bool* skipped);
  Status PlaceStructure(CallInProgress* call, DeviceContext* context);
  // Changes the heap and the offset of a placed resource.
  Status GiveOwnHeap(CallInProgress* call, DeviceContext* context);
  // `result`: of the call. Makes it once more if it was refused where the program put the resource.
  void PlaceRefused(CallInProgress* call, void* target, void* result);
  // The call in progress did not take it.
  void DropOwnHeap(HRESULT outcome);
  // Follows a call that was made.
  Status FollowMoved(const CallInProgress& call, HRESULT outcome);
  void SetRootsAgain(const CallInProgress& call, DeviceContext* context);
  void NoteMoved();

  // player_programs.cc: programs of state objects. An error of the first two is a reason to skip the call.
  Status TranslateProgram(CallInProgress* call);
  Status ProvideBackingMemory(CallInProgress* call, D3D12_SET_WORK_GRAPH_DESC* desc);
  void NoteProgram(CallInProgress* call);
  void NoteGraphInputs(CallInProgress* call);
  void NoteNewProgram(CallInProgress* call, const void* result);

  // player_addresses.cc: addresses that lie in buffers.
  class AddressMemory;
  void NoteAddresses(CallInProgress* call, const void* result);
  // `kept`: KeptOf the call.
  void NoteInstances(uint64_t list, const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc,
                     const KeptParts* kept);
  void NoteRays(uint64_t list, const D3D12_DISPATCH_RAYS_DESC* desc, const KeptParts* kept);
  void NoteStructureSizes(UINT count,
                          const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC* infos);
  void NoteTable(uint64_t list, uint64_t address, uint64_t size_bytes, uint64_t stride_bytes,
                 BufferAddresses::Kept kept = {});
  Status NoteIdentifier(uint64_t call, std::span<const std::byte> results);
  void NoteSignature(uint64_t creator, uint64_t object);
  std::optional<BufferAddresses::Memory::Place> PlaceOfReal(uint64_t address) const;
  void NoteShaderWrites(uint64_t list, const D3D12_RESOURCE_BARRIER* barriers, UINT count);
  void NoteShaderWrites(uint64_t list, const D3D12_BARRIER_GROUP* groups, UINT count);
  // Patches what the first lists read, as many as may be executed together.
  Status PatchAddresses(CallInProgress* call, ID3D12CommandQueue* queue,
                        std::span<const uint64_t> lists, size_t* together);
  Status TellStaleAddresses(const CallInProgress& call, ID3D12CommandQueue* queue,
                            uint64_t start_ns);

  // The trace lost what stood between the last record and the next.
  Status FailAtHole(const std::string& reason);
  // kUnsupported, for people, once the trace has asked for more than it may.
  Status CheckCost();
  void CountCost(CallInProgress& call);
  Status WaitInsteadOf(const Record& skipped);

  TraceReader* const trace_;
  const PlayerOptions options_;
  const D3D12Library library_;
  PlayLog log_;
  PlayCost cost_;
  bool stop_ = false;  // before the end of the trace, as asked
  bool abandoned_ = false;
  bool had_device_ = false;
  AdapterChoice adapters_;
  Arena arena_;
  std::vector<std::byte> meta_parameters_;  // of the call in progress
  // Facts of the calls of a method, as far as they were found out.
  struct MethodFacts {
    uint32_t needless = 0;                   // CallInProgress::needless
    const InterfaceInfo* version = nullptr;  // of the last object that has it
  };
  std::array<MethodFacts, kMethodCount> method_facts_ = {};
  DecodedCall decoded_;  // of the call in progress: its memory serves the next one
  ReplayObjects objects_;
  ReplayValues values_;
  const DecodeOptions decode_options_;
  DescriptorViews views_;
  std::unordered_map<uint64_t, Pending> pending_;  // by call
  std::unordered_map<uint64_t, ComPtr<ID3D12Device>> new_devices_;
  std::set<uint64_t> other_devices_;  // of them: DeviceContext::is_another
  bool had_another_ = false;
  uint64_t stale_lists_ = 0;     // executions of lists, DeviceContext::lists
  ComPtr<ID3D12Heap> own_heap_;  // for what the call in progress makes
  ReplayDevices devices_;
  WaitEngine waits_;
  std::unordered_map<uint64_t, ListStates> lists_;
  ListBindings bindings_;
  BufferAddresses addresses_;
  ReplayPrograms programs_;
  std::shared_ptr<const ReplayProgram> set_program_;  // by the call in progress
  MemoryPlayer memory_;
  OwnStructures own_structures_;
  StructurePlayer structures_;
  DeviceCheck check_;
  // Signatures by the calls that made them, until their objects and results come.
  std::unordered_map<uint64_t, IndirectLayout> new_signatures_;
  std::unordered_map<uint64_t, ShaderIdentifier> new_identifiers_;
  // feature -> its name
  std::map<uint32_t, std::string> different_features_;
  bool missed_parts_ = false;  // of the call with kept_parts: some could not be replaced
  bool tile_mappings_pending_ = false;
  uint64_t next_frame_ = 0;  // the frame that is played
  // By the clock of the recording: the frame's begin; 0: unknown. Then its duration, once it was
  // asked for.
  uint64_t frame_began_ns_ = 0;
  std::optional<uint64_t> recorded_frame_ns_;
  uint64_t pace_recorded_ns_ = 0;  // times of the first frame
  uint64_t pace_played_ns_ = 0;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_PLAYER_IMPL_H_
