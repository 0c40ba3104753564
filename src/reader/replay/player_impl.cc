// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/player_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text.h"
#include "d3d12abi/aggregates.h"
#include "format/calls/object_text.h"
#include "format/calls/value_encoder.h"
#include "reader/replay/image_file.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

StatefulResource StatefulOf(const D3D12_RESOURCE_DESC& desc, uint32_t initial_state) {
  StatefulResource result;
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  result.initial_state = initial_state;
  result.mips = desc.MipLevels;
  result.array_size = volume ? 1 : desc.DepthOrArraySize;
  result.planes = PlaneCount(desc.Format);
  result.buffer = desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
  result.simultaneous_access = (desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_SIMULTANEOUS_ACCESS) != 0;
  return result;
}

// A gap in the trace: the number of the first record behind it, and its reason. A trace that was
// cut has no gap: it plays up to the cut.
struct Hole {
  uint64_t behind = 0;
  std::string reason;
};

std::vector<Hole> HolesIn(const TraceReader& trace) {
  std::vector<Hole> holes;
  const std::vector<ChunkInfo>& chunks = trace.file().chunks();
  const auto table = std::find_if(chunks.begin(), chunks.end(), [](const ChunkInfo& chunk) {
    return chunk.type == kTraceTableChunk;
  });
  for (const Loss& loss : trace.losses()) {
    // The table stands before all records, and is there twice.
    if (table == chunks.end() || loss.offset <= table->offset) continue;
    const auto behind = std::find_if(
        trace.spans().begin(), trace.spans().end(),
        [&](const TraceSpan& span) { return chunks[span.chunk].offset > loss.offset; });
    if (behind != trace.spans().end()) holes.push_back({behind->first_number, loss.reason});
  }
  return holes;
}

bool HasRayTracing(ID3D12Device* device) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS5 options = {};
  return SUCCEEDED(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS5, &options,
                                               sizeof(options))) &&
         NumberOf(options.RaytracingTier) != D3D12_RAYTRACING_TIER_NOT_SUPPORTED;
}

constexpr char kOfLostDevice[] = "calls of a device that was lost before";

}  // namespace

std::unique_ptr<Player> MakePlayer(TraceReader* trace, PlayerOptions options, D3D12Library library,
                                   AdapterChoice adapters) {
  return std::make_unique<PlayerImpl>(trace, std::move(options), library, std::move(adapters));
}

PlayerImpl::PlayerImpl(TraceReader* trace, PlayerOptions options, D3D12Library library,
                       AdapterChoice adapters)
    : trace_(trace),
      options_(std::move(options)),
      library_(library),
      log_(options_),
      cost_(options_.most_cost_ns),
      adapters_(std::move(adapters)),
      values_(&objects_, library.is_libvkd3d),
      decode_options_{.wchar_bytes = library.wchar_bytes,
                      .visitor = &values_,
                      .blobs = trace,
                      .refuse_unknown_parts = true,
                      .drop_cached_pipelines = true},
      views_(&objects_),
      devices_(options_, &log_),
      waits_(options_, library_, &objects_, &devices_, &log_, [this] { return RecordedFrameNs(); }),
      bindings_(&objects_, library.is_libvkd3d,
                [this](uint64_t device, ComPtr<IUnknown> object) {
                  DeviceContext* const context = devices_.Find(device);
                  if (context != nullptr) context->ended.push_back(std::move(object));
                }),
      memory_({.options = options_,
               .blobs = trace,
               .objects = &objects_,
               .devices = &devices_,
               .waits = &waits_,
               .log = &log_,
               .cost = &cost_,
               .addresses = &addresses_,
               .check_cost = [this] { return CheckCost(); }}),
      own_structures_({.objects = &objects_,
                       .views = &views_,
                       .memory = &memory_,
                       .waits = &waits_,
                       .cost = &cost_,
                       .log = &log_}),
      structures_({.blobs = trace,
                   .objects = &objects_,
                   .devices = &devices_,
                   .log = &log_,
                   .cost = &cost_,
                   .own = &own_structures_,
                   .check_cost = [this] { return CheckCost(); },
                   .limit = std::chrono::milliseconds(options_.wait_timeout_ns / 1'000'000)}),
      check_(trace, &devices_, &cost_, library.wchar_bytes),
      next_frame_(trace->first_frame().value_or(0)) {
  // For a trace that began late, the duration of its first frame is unknown.
  if (next_frame_ == 0 && !trace->facts().trimmed) {
    frame_began_ns_ = trace->facts().start_monotonic_ns;
  }
}

PlayerImpl::~PlayerImpl() {
  if (!abandoned_) return;
  // The GPU may still use all of it, and some implementations wait for it forever.
  objects_.Abandon();
  devices_.Abandon();
  for (auto& [number, device] : new_devices_) device.Detach();
  for (auto& [call, pending] : pending_) {
    pending.created.Detach();
    pending.facts.pipeline.Detach();
    pending.facts.own_heap.Detach();
  }
  bindings_.Abandon();
  own_heap_.Detach();
}

Status PlayerImpl::Run() {
  const Status status = PlayAll();
  const bool stuck = !library_.is_libvkd3d && waits_.AnyBlocked();
  if (log_.failure() == PlayerFailure::kHang || log_.failure() == PlayerFailure::kLost ||
      devices_.any_lost() || stuck) {
    // Queues that wait for what never comes are among what some implementations wait for.
    abandoned_ = true;
  } else if (!status.ok() || log_.result().interrupted) {
    abandoned_ = !waits_.Settle();
  }
  return status;
}

Status PlayerImpl::PlayAll() {
  constexpr uint64_t kBetweenLooks = 1024;
  const std::vector<Hole> holes = HolesIn(*trace_);
  TraceCursor cursor(*trace_);
  cursor.ReadAhead();
  Record record;
  uint64_t played = 0;
  const auto stopped = [&] { return stop_ || log_.result().interrupted; };
  while (!stopped() && cursor.Next(&record)) {
    if (record.kind == RecordKind::kCall && record.number > options_.last_call) return Finish();
    for (const Hole& hole : holes) {
      if (record.number >= hole.behind) return FailAtHole(hole.reason);
    }
    if (!cursor.losses().empty()) return FailAtHole(cursor.losses().front().reason);
    if (options_.stops_before && record.kind == RecordKind::kCall) {
      CAIRN_RETURN_IF_ERROR(StopBefore(record.number));
    }
    if (stopped()) break;
    log_.Begin(record.number);
    if (options_.on_record) options_.on_record();
    cost_.AddRecord(record.body.size());
    CAIRN_RETURN_IF_ERROR(Play(record));
    if (cost_.spent()) return CheckCost();
    if (++played % kBetweenLooks == 0) (void)log_.Interrupted();
  }
  if (!stopped() && !cursor.status().ok()) {
    log_.SetFailure(PlayerFailure::kCorrupt, 0);
    return cursor.status();
  }
  if (!stopped() && !cursor.losses().empty()) return FailAtHole(cursor.losses().front().reason);
  return Finish();
}

Status PlayerImpl::CheckCost() {
  if (!cost_.spent()) return Status();
  log_.SetFailure(PlayerFailure::kNone, log_.record());
  return Status(StatusCode::kUnsupported,
                fmt::format("record {}: the trace asks for more work than a file of {} bytes may; "
                            "--no-limit plays all of it",
                            log_.record(), GroupedDigits(trace_->file().size_bytes())));
}

// Later records depend on the lost ones, so that their effect on the device is unknown.
Status PlayerImpl::FailAtHole(const std::string& reason) {
  log_.SetFailure(PlayerFailure::kCorrupt, log_.record());
  return Status(
      StatusCode::kCorrupt,
      fmt::format("it is damaged, and can be played up to record {} only: {}; cairn verify "
                  "lists all that is lost",
                  log_.record(), reason));
}

Status PlayerImpl::Check(const Record& record) {
  const auto answers_features = [&] {
    return trace_->MethodOf(record) == Method::ID3D12Device_CheckFeatureSupport;
  };
  switch (record.kind) {
    case RecordKind::kDevice: return OnDevice(record);
    case RecordKind::kObject:
      check_.OnObject(record);
      return new_devices_.contains(record.object) ? OnObject(record) : Status();
    case RecordKind::kObjectEnd: check_.OnObjectEnd(record); return OnObjectEnd(record);
    case RecordKind::kCall:
      if (answers_features()) return OnCall(record);
      check_.OnCall(record);
      return Status();
    case RecordKind::kResult:
      if (answers_features()) return OnResult(record);
      check_.OnResult(record);
      return Status();
    default: return Status();
  }
}

Status PlayerImpl::Play(const Record& record) {
  if (options_.check_only) return Check(record);
  if (had_another_) check_.Follow(record);
  switch (record.kind) {
    case RecordKind::kCall: return OnCall(record);
    case RecordKind::kResult: return OnResult(record);
    case RecordKind::kObject: return OnObject(record);
    case RecordKind::kObjectEnd: return OnObjectEnd(record);
    case RecordKind::kMemory: return memory_.Write(record);
    case RecordKind::kFrame: return OnFrame(record);
    case RecordKind::kContents:
      CAIRN_RETURN_IF_ERROR(AwaitTileMappings());
      return memory_.WriteContents(record);
    case RecordKind::kStructure:
      CAIRN_RETURN_IF_ERROR(AwaitTileMappings());
      return structures_.Play(record);
    case RecordKind::kReadback:
      return IsAskedFor(next_frame_) ? memory_.CompareReadback(record) : Status();
    case RecordKind::kResourceHash:
      return next_frame_ >= options_.first_frame ? memory_.CompareHash(record) : Status();
    case RecordKind::kFenceReached: return OnFenceReached(record);
    case RecordKind::kDevice: return OnDevice(record);
    case RecordKind::kNote: return OnNote(record);
    case RecordKind::kBlob:
    case RecordKind::kStart:
    case RecordKind::kStop: return Status();
  }
  log_.Note(
      fmt::format("records of kind {} are unknown to this version", static_cast<int>(record.kind)));
  return Status();
}

// A signal or a wait that is left out ordered what the GPU and the CPU do: without it memory would be
// used again while the GPU is at it.
Status PlayerImpl::WaitInsteadOf(const Record& record) {
  const ReplayObject* const object = objects_.Find(record.object);
  const std::optional<Method> method = trace_->MethodOf(record);
  const InterfaceInfo* const declared = method ? InterfaceOf(*method) : nullptr;
  Chain chain = declared == nullptr ? Chain::kNone : declared->chain;
  if (object != nullptr) chain = object->chain;
  const bool orders =
      chain == Chain::kNone || chain == Chain::kID3D12CommandQueue || chain == Chain::kID3D12Fence;
  return orders ? waits_.WaitForDevices() : Status();
}

Status PlayerImpl::StopBefore(uint64_t call) {
  while (!log_.Interrupted() && options_.stops_before(call)) {
    CAIRN_RETURN_IF_ERROR(waits_.WaitForDevices());
    CAIRN_RETURN_IF_ERROR(devices_.CheckLosses());
    CAIRN_RETURN_IF_ERROR(memory_.ReadTextures());
  }
  return Status();
}

bool PlayerImpl::IsLeftOut(uint64_t call) const {
  const Omissions* const later = options_.later_omissions;
  return options_.omissions.calls.contains(call) ||
         (later != nullptr && later->calls.contains(call));
}

bool PlayerImpl::IsLeftOut(uint64_t submission, uint32_t list) const {
  const uint64_t key = Omissions::ListKey(submission, list);
  const Omissions* const later = options_.later_omissions;
  return options_.omissions.lists.contains(key) || (later != nullptr && later->lists.contains(key));
}

// Everything that was submitted comes to its end before anything is destroyed.
Status PlayerImpl::Finish() {
  CAIRN_RETURN_IF_ERROR(waits_.WaitForDevices());
  CAIRN_RETURN_IF_ERROR(devices_.CheckLosses());
  for (const auto& [call, pending] : pending_) EndPending(call, pending);
  pending_.clear();
  NoteMoved();
  log_.Finish();
  if (options_.check_only) {
    for (const auto& [feature, name] : different_features_) check_.AddFeature(name);
    log_.result().differences = check_.Take();
  }
  CAIRN_RETURN_IF_ERROR(devices_.Judge());
  if (log_.result().interrupted) return Status();  // nobody waits for the images any more
  return memory_.ReadTextures();
}

Status PlayerImpl::OnCall(const Record& record) {
  const std::optional<Method> method = trace_->MethodOf(record);
  if (!method) {
    log_.LeaveOut(record.number, fmt::format("{}: this version of Cairn does not know it",
                                             trace_->MethodName(record)));
    return WaitInsteadOf(record);
  }
  CallInProgress call{record, *method, Describe(*method), nullptr, decoded_, objects_};
  const CallRole& role = RoleOf(*method);
  if (role.replay == Replay::kCheckLoss) {
    // The program looked, and so does the playback.
    DeviceContext* const asked = devices_.Find(record.object);
    return asked == nullptr ? Status() : devices_.CheckLoss(asked);
  }
  if (role.replay == Replay::kSkip) return Status();
  if (options_.on_call) options_.on_call(record.number);
  if (LeavesOut()) {
    const KeptParts* const kept = KeptOf(call);
    const bool keeps_no_command = kept != nullptr && kept->end <= kept->first &&
                                  *method == Method::ID3D12GraphicsCommandList_ExecuteIndirect;
    if (IsLeftOut(record.number) || keeps_no_command) {
      bindings_.Forget(record.object, *method);
      return Status();
    }
  }
  if (role.replay == Replay::kImport) {
    // The trace's result tells if the call gave an object.
    (void)AddPending(call);
    return Status();
  }
  call.object = objects_.Find(record.object);
  if (call.object == nullptr) {
    const bool absent = objects_.IsAbsent(record.object);
    // An object that is absent needs no name.
    if (absent && role.role == Role::kProperty && role.chain == Chain::kNone) return Status();
    return LeaveOutCall(call, absent ? "its object could not be made here"
                                     : fmt::format("there is no object {} here", record.object));
  }
  const DeviceContext* const context = devices_.Find(call.object->device);
  if (context != nullptr && context->lost) {
    // If the program had lost it by then, its calls did as little.
    if (devices_.IsLossRecorded(call.object->device)) return Status();
    if (std::strcmp(call.info.result.type, "HRESULT") == 0) {
      Pending& pending = AddPending(call);
      pending.made = true;
      pending.result = DXGI_ERROR_DEVICE_REMOVED;
    } else {
      log_.LeaveOut(record.number, kOfLostDevice);
    }
    return Status();
  }
  if (role.replay == Replay::kCannot) {
    return LeaveOutCall(call, WhyUnrepeatable(role.unrepeatable));
  }
  arena_.Reset();
  uint32_t& needless = method_facts_[static_cast<size_t>(*method)].needless;
  call.needless = needless;
  const Status status = MakeCall(&call);
  needless = call.needless;
  if (status.ok()) CountCost(call);
  if (status.ok() || log_.failed()) return status;
  // The call would have no effect, and implementations on the CPU may not know that: its omission
  // is no loss.
  if (status.code() == StatusCode::kInvalidArgument) return Status();
  return LeaveOutCall(call, status.message());
}

// Calls with an HRESULT may have failed when they were recorded: then they did nothing, here as there.
Status PlayerImpl::LeaveOutCall(const CallInProgress& call, const std::string& why,
                                bool device_lacks) {
  if (std::strcmp(call.info.result.type, "HRESULT") == 0) {
    Pending& pending = AddPending(call);
    pending.left_out = why;
    pending.device_lacks = device_lacks;
    pending.was_unknown = bindings_.IsUnknown(call.record.object);
    bindings_.Forget(call.record.object, call.method);
  } else if (device_lacks && options_.end_at_refusal) {
    return log_.FailCall(PlayerFailure::kRefused, call.record.number, call.info.name,
                         why + Differences());
  } else {
    log_.LeaveOut(call.record.number, fmt::format("{}: {}", call.info.name, why));
    bindings_.Forget(call.record.object, call.method);
  }
  return WaitInsteadOf(call.record);
}

PlayerImpl::Pending& PlayerImpl::AddPending(const CallInProgress& call) {
  // More calls than these never wait for their results at once: a thread makes one at a time.
  constexpr size_t kMostPending = 1 << 16;
  if (pending_.size() >= kMostPending) {
    EndPending(pending_.begin()->first, pending_.begin()->second);
    pending_.erase(pending_.begin());
  }
  Pending& pending = pending_[call.record.number];
  pending = {};
  pending.method = call.method;
  pending.object = call.record.object;
  return pending;
}

// Ends a call whose result never came.
void PlayerImpl::EndPending(uint64_t call, const Pending& pending) {
  std::string why = pending.left_out;
  if (RoleOf(pending.method).replay == Replay::kImport && !pending.claimed) why = kNoImport;
  if (why.empty()) return;
  log_.LeaveOut(call, fmt::format("{}: {}", Describe(pending.method).name, why));
}

Status PlayerImpl::OnResult(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) {
    log_.LeaveOut(record.number, "results: " + body.status().message());
    return Status();
  }
  const std::optional<Method> method = trace_->MethodOf(record);
  const bool answers = method && std::strcmp(Describe(*method).result.type, "HRESULT") == 0;
  HRESULT recorded = S_OK;
  if (answers && rest.size() >= sizeof(recorded)) {
    std::memcpy(&recorded, rest.data(), sizeof(recorded));
  }
  if (FAILED(recorded)) NoteRecordedLoss(record, recorded);
  const auto found = pending_.find(body->call);
  if (found == pending_.end()) return Status();
  const Pending pending = std::move(found->second);
  pending_.erase(found);

  if (const Status status = NoteIdentifier(body->call, rest); !status.ok()) {
    log_.LeaveOut(record.number, "results: " + status.message());
  }
  if (!pending.waits.empty()) return AwaitResult(pending, body->call, recorded, rest);
  if (RoleOf(pending.method).replay == Replay::kCompare) {
    return CompareFeature(record, pending, rest);
  }
  return JudgeResult(pending, body->call, recorded);
}

Status PlayerImpl::AwaitResult(const Pending& pending, uint64_t call, HRESULT recorded,
                               std::span<const std::byte> results) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  std::vector<FenceValue> reachable;
  for (FenceValue wait : pending.waits) {
    if (RoleOf(pending.method).replay == Replay::kAwaitValue) {
      if (results.size() < sizeof(wait.value)) return Status();
      std::memcpy(&wait.value, results.data(), sizeof(wait.value));
    } else if (FAILED(recorded)) {
      return Status();
    }
    if (waits_.fences().Reachable(wait.fence, wait.value)) {
      reachable.push_back(wait);
      continue;
    }
    const ReplayObject* const fence = objects_.Find(wait.fence);
    // If the program did not give it that value, its device was lost.
    if (wait.value == kMost && fence != nullptr) devices_.RecordLoss(fence->device);
    if (pending.waits_for_any || wait.value == kMost) continue;
    // The signal is not in the trace, or was skipped.
    if (fence != nullptr) {
      log_.LeaveOut(call, fmt::format("a wait for fence {}: nothing here brings it to {}",
                                      wait.fence, wait.value));
    }
    CAIRN_RETURN_IF_ERROR(waits_.WaitForDevices());
  }
  if (!pending.waits_for_any) {
    for (const FenceValue& wait : reachable) CAIRN_RETURN_IF_ERROR(waits_.Await({&wait, 1}));
    return Status();
  }
  if (!reachable.empty()) return waits_.Await(reachable);
  log_.LeaveOut(call,
                fmt::format("a wait for one of {} fences: nothing here brings one to its value",
                            pending.waits.size()));
  return waits_.WaitForDevices();
}

// Here at the latest the program had waited for its event. Signals that are not enqueued yet are waited for
// when they are.
Status PlayerImpl::OnFenceReached(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<FenceReachedBody> body = DecodeBody<FenceReachedBody>(&rest);
  if (!body.ok()) {
    log_.LeaveOut(record.number, "a wait for a fence: " + body.status().message());
    return Status();
  }
  const ReplayObject* const fence = objects_.Find(record.object);
  if (fence == nullptr || fence->chain != Chain::kID3D12Fence) return Status();
  return waits_.AwaitWhenReachable({{record.object, body->value}});
}

// Results that say that a device is lost.
void PlayerImpl::NoteRecordedLoss(const Record& record, HRESULT recorded) {
  constexpr HRESULT kLosses[] = {DXGI_ERROR_DEVICE_REMOVED, DXGI_ERROR_DEVICE_HUNG,
                                 DXGI_ERROR_DEVICE_RESET};
  const bool asked =
      trace_->MethodOf(record) == Method::ID3D12Device_GetDeviceRemovedReason && FAILED(recorded);
  if (!asked && std::find(std::begin(kLosses), std::end(kLosses), recorded) == std::end(kLosses)) {
    return;
  }
  const ReplayObject* const object = objects_.Find(record.object);
  if (object == nullptr) return;
  devices_.RecordLoss(object->chain == Chain::kID3D12Device ? object->number : object->device);
}

// A call that succeeded in the recording must succeed now; a failed one had no effect.
Status PlayerImpl::JudgeResult(const Pending& pending, uint64_t call, HRESULT recorded) {
  const MethodInfo& info = Describe(pending.method);
  const bool answers = std::strcmp(info.result.type, "HRESULT") == 0;
  if (!answers) return Status();
  if (pending.made && FAILED(recorded) == FAILED(pending.result)) ++log_.result().compared_results;
  if (FAILED(recorded)) {
    if (!pending.left_out.empty() && !pending.was_unknown) bindings_.SetKnown(pending.object);
    return Status();
  }
  std::string why = pending.left_out;
  if (why.empty()) {
    if (!pending.made || SUCCEEDED(pending.result)) return Status();
    CAIRN_RETURN_IF_ERROR(devices_.CheckLosses());
    const ReplayObject* const object = objects_.Find(pending.object);
    const DeviceContext* const context =
        object == nullptr ? nullptr : devices_.Find(object->device);
    if (context != nullptr && context->lost) {
      log_.LeaveOut(call, kOfLostDevice);
      return Status();
    }
    why =
        fmt::format("this device refuses it with 0x{:08X}", static_cast<uint32_t>(pending.result));
  }
  const bool device_lacks = pending.left_out.empty() || pending.device_lacks;
  if (device_lacks) why += "; it succeeded when it was recorded" + Differences();
  if (device_lacks && options_.end_at_refusal) {
    // Memory that others had taken may be free the next time.
    const bool no_memory = pending.result == E_OUTOFMEMORY;
    return log_.FailCall(no_memory ? PlayerFailure::kUnclear : PlayerFailure::kRefused, call,
                         info.name, why);
  }
  log_.LeaveOut(call, fmt::format("{}: {}", info.name, why));
  bindings_.Forget(pending.object, pending.method);
  return Status();
}

Status PlayerImpl::OnObject(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok()) {
    log_.LeaveOut(record.number, "an object: " + body.status().message());
    return Status();
  }
  const auto creation = pending_.find(body->creator);
  const Status status = OnCreated(record, *body, trace_->ChainOf(body->chain), rest,
                                  creation == pending_.end() ? nullptr : &creation->second);
  if (status.ok() || log_.failed()) return status;
  // The existing object is not the one of the record.
  log_.LeaveOut(record.number,
                fmt::format("{}: {}", ObjectText(trace_->ChainOf(body->chain), record.object),
                            status.message()));
  if (objects_.Find(record.object) == nullptr) {
    objects_.AddAbsent(record.object, body->facts == kDescriptorHeapFacts);
  }
  return Status();
}

// `creation`: null: not known.
Status PlayerImpl::OnCreated(const Record& record, const ObjectBody& body, Chain chain,
                             std::span<const std::byte> facts, Pending* creation) {
  if (const auto device = new_devices_.find(record.object); device != new_devices_.end()) {
    const ComPtr<ID3D12Device> real = std::move(device->second);
    new_devices_.erase(device);
    return AddObject(record, body, Chain::kID3D12Device, real.get(), 0, facts);
  }
  if (chain != Chain::kNone && creation != nullptr && creation->created) {
    if (std::exchange(creation->claimed, true)) {
      return Status(StatusCode::kCorrupt,
                    fmt::format("call {} made an object already", body.creator));
    }
    const Status added =
        AddObject(record, body, chain, creation->created.get(), creation->initial_state, facts);
    ReplayObject* const object = objects_.Find(record.object);
    if (object == nullptr || object->pointer.get() == nullptr) return added;
    if (!added.ok() && added.code() != StatusCode::kUnsupported) return added;
    if (object->chain == Chain::kID3D12GraphicsCommandList) {
      bindings_.Begin(object->number, &creation->facts);
    }
    creation->facts.pipeline = {};
    object->created = std::move(creation->facts);
    if (object->created.own_heap) ++log_.result().moved.resources;
    CAIRN_RETURN_IF_ERROR(CheckCost());  // before it is cleared
    CAIRN_RETURN_IF_ERROR(memory_.Clear(object, creation->initial_state, creation->committed));
    return added;
  }
  if (chain == Chain::kID3D12Resource && body.facts == kResourceFacts && body.creator == 0) {
    return CreateImage(record, body, facts);
  }
  if (creation != nullptr && RoleOf(creation->method).replay == Replay::kImport) {
    return OnImported(record, body, chain, facts, creation);
  }
  objects_.AddAbsent(record.object, body.facts == kDescriptorHeapFacts);
  return Status();
}

Status PlayerImpl::AddObject(const Record& record, const ObjectBody& body, Chain chain,
                             IUnknown* real, uint32_t initial_state,
                             std::span<const std::byte> facts) {
  const bool compiles = chain == Chain::kID3D12PipelineState || chain == Chain::kID3D12StateObject;
  compiles ? cost_.AddPipeline() : cost_.AddObject();
  Result<ReplayObject*> object = objects_.Add(record.object, chain, body.device, real);
  if (!object.ok()) return object.status();
  if (chain == Chain::kID3D12Device) {
    DeviceContext* const context =
        devices_.Add(record.object, ComPtr<ID3D12Device>((*object)->As<ID3D12Device>()));
    context->is_another = other_devices_.erase(record.object) != 0;
    context->has_ray_tracing = context->is_another && HasRayTracing(context->device.get());
    TellDevice(context->device.get());
  }
  if (chain == Chain::kID3D12Fence) {
    waits_.fences().Create(record.object, (*object)->As<ID3D12Fence>()->GetCompletedValue());
  }
  if (chain == Chain::kID3D12CommandQueue) {
    if (DeviceContext* const context = devices_.Find(body.device); context != nullptr) {
      context->queues[record.object] = {};
    }
  }
  if (DeviceContext* const context = had_another_ ? devices_.Find(body.device) : nullptr;
      context != nullptr && (*object)->gpu_address != 0) {
    context->structures.Reuse((*object)->gpu_address,
                              (*object)->gpu_address + (*object)->desc.Width);
  }
  NoteSignature(body.creator, record.object);
  return AddFacts(record, body, *object, initial_state, facts);
}

Status PlayerImpl::AddFacts(const Record& record, const ObjectBody& body, ReplayObject* object,
                            uint32_t initial_state, std::span<const std::byte> facts) {
  const auto not_so = [](const Status& status) {
    return status.ok() ? status : Status(StatusCode::kUnsupported, status.message());
  };
  if (body.facts == kResourceFacts) {
    Result<ResourceFacts> resource = DecodeBody<ResourceFacts>(&facts);
    if (!resource.ok()) return not_so(resource.status());
    cost_.AddMemory(resource->size_bytes);
    CAIRN_RETURN_IF_ERROR(not_so(objects_.SetFacts(object, *resource)));
    if (DeviceContext* const context = devices_.Find(body.device); context != nullptr) {
      context->states.Add(record.object, StatefulOf(object->desc, initial_state));
    }
  } else if (body.facts == kDescriptorHeapFacts) {
    Result<DescriptorHeapFacts> heap = DecodeBody<DescriptorHeapFacts>(&facts);
    if (!heap.ok()) return not_so(heap.status());
    return not_so(objects_.SetFacts(object, *heap));
  }
  return Status();
}

// A texture of the same description stands for an image that a window system gave the program.
Status PlayerImpl::CreateImage(const Record& record, const ObjectBody& body,
                               std::span<const std::byte> facts) {
  std::span<const std::byte> rest = facts;
  Result<ResourceFacts> image = DecodeBody<ResourceFacts>(&rest);
  DeviceContext* const context = devices_.Find(body.device);
  if (!image.ok() || image->is_image == 0 || context == nullptr) {
    return Status(StatusCode::kCorrupt, "it comes from nowhere");
  }
  D3D12_RESOURCE_DESC desc;
  static_assert(sizeof(desc) == sizeof(image->desc));
  std::memcpy(&desc, image->desc, sizeof(desc));
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  ComPtr<ID3D12Resource> texture;
  const HRESULT result = context->device->CreateCommittedResource(
      &heap, D3D12_HEAP_FLAG_NONE, &desc, static_cast<D3D12_RESOURCE_STATES>(image->initial_state),
      nullptr, __uuidof(ID3D12Resource), texture.Receive());
  if (FAILED(result)) {
    return Status(StatusCode::kNotFound,
                  fmt::format("this device refuses a texture in place of a swap chain's image "
                              "({} x {}, {}) with 0x{:08X}",
                              desc.Width, desc.Height, FormatName(desc.Format),
                              static_cast<uint32_t>(result)));
  }
  return AddObject(record, body, Chain::kID3D12Resource, texture.get(), image->initial_state,
                   facts);
}

Status PlayerImpl::OnObjectEnd(const Record& record) {
  constexpr size_t kMostEnded = 1024;
  ReplayObject* const object = objects_.Find(record.object);
  DeviceContext* const context = object == nullptr ? nullptr : devices_.Find(object->device);
  if (object != nullptr && object->chain == Chain::kID3D12CommandQueue && context != nullptr) {
    CAIRN_RETURN_IF_ERROR(waits_.WaitForQueue(record.object, context));
    // Some implementations would wait for it: it is never given back.
    const bool stuck = !library_.is_libvkd3d && waits_.fences().Blocked(record.object);
    if (context->lost || stuck) object->pointer.Detach();
    context->queues.erase(record.object);
    waits_.unfinished().Idle(record.object);
  }
  if (object != nullptr && object->chain == Chain::kID3D12Device) {
    CAIRN_RETURN_IF_ERROR(waits_.WaitForDevice(record.object));
    if (devices_.Remove(record.object)) object->pointer.Detach();
  } else if (context != nullptr && context->lost) {
    object->pointer.Detach();
    object->created.own_heap.Detach();
  } else if (context != nullptr) {
    context->states.Remove(record.object);
    // Tile mappings and residency use objects as well as submissions do. The end of a fence
    // releases its waiters and is not delayed.
    const bool is_fence = object->chain == Chain::kID3D12Fence;
    if (object->pointer && !is_fence) context->ended.push_back(object->pointer);
    if (object->created.own_heap) {
      context->ended.push_back(std::move(object->created.own_heap));
    }
    for (ComPtr<IUnknown>& buffer : context->graph_memory.Remove(record.object)) {
      context->ended.push_back(std::move(buffer));
    }
    CAIRN_RETURN_IF_ERROR(own_structures_.End(context, record.object));
    if (context->ended.size() >= kMostEnded) CAIRN_RETURN_IF_ERROR(waits_.SweepEnded(context));
  }
  if (object != nullptr) bindings_.End(*object);
  if (object != nullptr && object->chain == Chain::kID3D12Fence &&
      !waits_.fences().HasNumbers(record.object)) {
    // Queues wait for no fence that is gone: what they have is waited for as ever.
    waits_.fences().SignalFromCpu(record.object, std::numeric_limits<uint64_t>::max());
  }
  waits_.fences().Remove(record.object);
  lists_.erase(record.object);
  cost_.Reset(record.object);
  addresses_.Remove(record.object);
  programs_.Remove(record.object);
  views_.Remove(record.object);
  objects_.Remove(record.object);
  return Status();
}

Status PlayerImpl::OnNote(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<NoteBody> body = DecodeBody<NoteBody>(&rest);
  if (!body.ok() || body->text_bytes > rest.size()) {
    log_.LeaveOut(record.number, "a note that is too short");
    return Status();
  }
  if (body->kind != static_cast<uint32_t>(NoteKind::kTracking)) {
    log_.Note("recorded: " +
              std::string(reinterpret_cast<const char*>(rest.data()), body->text_bytes));
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
