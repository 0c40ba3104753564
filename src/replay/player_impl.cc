// SPDX-License-Identifier: Apache-2.0
#include "replay/player_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "calls/value_encoder.h"
#include "d3d12abi/aggregates.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

using CreateWithVersion = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**, int);
using CreatePlain = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);

HRESULT CreateRealDevice(const D3D12Library& library, D3D_FEATURE_LEVEL level,
                         ComPtr<ID3D12Device>* device) {
  if (library.takes_api_version) {
    constexpr int kApiVersion10 = 0;
    return reinterpret_cast<CreateWithVersion>(library.create_device)(
        nullptr, level, __uuidof(ID3D12Device), device->Receive(), kApiVersion10);
  }
  return reinterpret_cast<CreatePlain>(library.create_device)(
      nullptr, level, __uuidof(ID3D12Device), device->Receive());
}

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

// What the trace lost between its records: the number of the first record behind it, and what it was. A
// trace that was cut has no hole: it plays up to the cut.
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

}  // namespace

std::unique_ptr<Player> MakePlayer(TraceReader* trace, PlayerOptions options,
                                   D3D12Library library) {
  return std::make_unique<PlayerImpl>(trace, std::move(options), library);
}

PlayerImpl::PlayerImpl(TraceReader* trace, PlayerOptions options, D3D12Library library)
    : trace_(trace),
      options_(std::move(options)),
      library_(library),
      values_(&objects_),
      next_frame_(trace->first_frame().value_or(0)) {}

PlayerImpl::~PlayerImpl() {
  if (!abandoned_) return;
  // The GPU may still use all of it, and some implementations wait for it for ever.
  objects_.Abandon();
  for (auto& [number, context] : devices_) context.release();
  for (auto& [number, device] : new_devices_) device.Detach();
  for (auto& [call, pending] : pending_) {
    pending.created.Detach();
    pending.facts.pipeline.Detach();
  }
  for (auto& [list, bindings] : bindings_) bindings.release();
}

Status PlayerImpl::Run() {
  const Status status = PlayAll();
  if (failure_ == PlayerFailure::kHang || failure_ == PlayerFailure::kLost) {
    abandoned_ = true;
  } else if (!status.ok() || result_.interrupted) {
    abandoned_ = !Settle();
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
  while (!stop_ && cursor.Next(&record)) {
    if (record.kind == RecordKind::kCall && record.number > options_.last_call) return Finish();
    for (const Hole& hole : holes) {
      if (record.number >= hole.behind) return FailAtHole(hole.reason);
    }
    if (!cursor.losses().empty()) return FailAtHole(cursor.losses().front().reason);
    current_ = record.number;
    if (options_.on_record) options_.on_record();
    CAIRN_RETURN_IF_ERROR(Play(record));
    if (++played % kBetweenLooks == 0) (void)Interrupted();
  }
  if (!stop_ && !cursor.status().ok()) {
    failure_ = PlayerFailure::kCorrupt;
    return cursor.status();
  }
  if (!stop_ && !cursor.losses().empty()) return FailAtHole(cursor.losses().front().reason);
  return Finish();
}

// What follows builds on what is lost: nobody knows what it would do to the device.
Status PlayerImpl::FailAtHole(const std::string& reason) {
  failure_ = PlayerFailure::kCorrupt;
  failed_call_ = current_;
  return Status(
      StatusCode::kCorrupt,
      fmt::format("it is damaged, and can be played up to record {} only: {}; cairn verify "
                  "lists all that is lost",
                  current_, reason));
}

Status PlayerImpl::Play(const Record& record) {
  switch (record.kind) {
    case RecordKind::kCall: return OnCall(record);
    case RecordKind::kResult: return OnResult(record);
    case RecordKind::kObject: return OnObject(record);
    case RecordKind::kObjectEnd: return OnObjectEnd(record);
    case RecordKind::kMemory: return OnMemory(record);
    case RecordKind::kFrame: return OnFrame(record);
    case RecordKind::kContents: return OnContents(record);
    case RecordKind::kReadback: return OnReadback(record);
    case RecordKind::kDevice: return OnDevice(record);
    case RecordKind::kNote: return OnNote(record);
    case RecordKind::kBlob:
    case RecordKind::kStart:
    case RecordKind::kStop: return Status();
  }
  Note(
      fmt::format("records of kind {} are unknown to this version", static_cast<int>(record.kind)));
  return Status();
}

// A signal or a wait that is left out ordered what the GPU and the CPU do: without it memory would be
// used again while the GPU is at it.
Status PlayerImpl::WaitInsteadOf(const Record& record) {
  const ReplayObject* const object = objects_.Find(record.object);
  const bool orders = object == nullptr || object->chain == Chain::kID3D12CommandQueue ||
                      object->chain == Chain::kID3D12Fence;
  return orders ? WaitForDevices() : Status();
}

// Everything that was submitted comes to its end before anything is destroyed.
Status PlayerImpl::Finish() {
  CAIRN_RETURN_IF_ERROR(WaitForDevices());
  pending_.clear();
  if (result_.interrupted) return Status();  // nobody waits for the images any more
  return ReadTextures();
}

Status PlayerImpl::OnCall(const Record& record) {
  const std::optional<Method> method = trace_->MethodOf(record);
  if (!method) {
    Skip(fmt::format("{}: this version of Cairn does not know it", trace_->MethodName(record)));
    return WaitInsteadOf(record);
  }
  CallInProgress call{record, *method, Describe(*method), nullptr, decoded_};
  const Treatment treatment = TreatmentOf(*method);
  if (treatment == Treatment::kLeaveOut) return Status();
  if (options_.on_call) options_.on_call(record.number);
  if (options_.omissions.calls.contains(record.number)) {
    ForgetBindings(record, *method);
    return Status();
  }
  if (treatment == Treatment::kImport) {
    // Whether it gave an object, the trace says.
    pending_[record.number].method = *method;
    return Status();
  }
  call.object = objects_.Find(record.object);
  if (call.object == nullptr) {
    if (objects_.IsAbsent(record.object)) {
      Skip(fmt::format("{}: its object could not be made here", call.info.name));
      return WaitInsteadOf(record);
    }
    return FailCall(PlayerFailure::kCorrupt, call,
                    fmt::format("there is no object {} here", record.object), StatusCode::kCorrupt);
  }
  arena_.Reset();
  const Status status = MakeCall(&call);
  if (status.ok() || failure_ != PlayerFailure::kNone) return status;
  if (status.code() == StatusCode::kUnsupported) {
    Skip(fmt::format("{}: {}", call.info.name, status.message()));
    ForgetBindings(record, *method);
    return WaitInsteadOf(record);
  }
  return FailCall(PlayerFailure::kCorrupt, call, status.message(), status.code());
}

Status PlayerImpl::OnResult(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) {
    return Fail(PlayerFailure::kCorrupt, record.number, body.status().message(),
                StatusCode::kCorrupt);
  }
  const auto found = pending_.find(body->call);
  if (found == pending_.end()) return Status();
  const Pending pending = std::move(found->second);
  pending_.erase(found);

  if (const Status status = NoteIdentifier(body->call, rest); !status.ok()) {
    return Fail(PlayerFailure::kCorrupt, record.number, status.message(), StatusCode::kCorrupt);
  }
  const MethodInfo& info = Describe(pending.method);
  HRESULT recorded = S_OK;
  if (info.result.kind == ValueKind::kSigned && rest.size() >= sizeof(recorded)) {
    std::memcpy(&recorded, rest.data(), sizeof(recorded));
  }
  for (FenceValue wait : pending.waits) {
    if (TreatmentOf(pending.method) == Treatment::kCompletedValue) {
      if (rest.size() < sizeof(wait.value)) break;
      std::memcpy(&wait.value, rest.data(), sizeof(wait.value));
      if (wait.value == std::numeric_limits<uint64_t>::max()) break;  // the device was lost
    } else if (FAILED(recorded)) {
      break;
    }
    // Whoever signalled it is not in the trace, or was left out.
    if (!fences_.Reachable(wait.fence, wait.value)) {
      if (objects_.Find(wait.fence) != nullptr) {
        Note(fmt::format("waits for fence {} were left out: nothing here brings it to the value",
                         wait.fence));
      }
      CAIRN_RETURN_IF_ERROR(WaitForDevices());
      continue;
    }
    CAIRN_RETURN_IF_ERROR(Await(wait.fence, wait.value));
  }
  if (TreatmentOf(pending.method) == Treatment::kFeatures) {
    return CompareFeature(record, pending, rest);
  }
  const bool answers = std::strcmp(info.result.type, "HRESULT") == 0;
  if (!pending.made || !answers || FAILED(recorded) || SUCCEEDED(pending.result)) return Status();
  for (const auto& [number, context] : devices_) CAIRN_RETURN_IF_ERROR(CheckLoss(context.get()));
  // Memory that others had taken may be free the next time.
  const bool no_memory = pending.refused.empty() && pending.result == E_OUTOFMEMORY;
  failure_ = no_memory ? PlayerFailure::kUnclear : PlayerFailure::kRefused;
  failed_call_ = body->call;
  const std::string what = pending.refused.empty()
                               ? fmt::format("this device refuses it with 0x{:08X}",
                                             static_cast<uint32_t>(pending.result))
                               : pending.refused;
  return Status(StatusCode::kUnsupported,
                fmt::format("call {}, {}: {}; it succeeded when it was recorded{}", body->call,
                            info.name, what, Differences()));
}

Status PlayerImpl::OnDevice(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<DeviceBody> body = DecodeBody<DeviceBody>(&rest);
  if (!body.ok()) {
    return Fail(PlayerFailure::kCorrupt, record.number, body.status().message(),
                StatusCode::kCorrupt);
  }
  ComPtr<ID3D12Device> device;
  constexpr uint32_t kLowestLevel = D3D_FEATURE_LEVEL_11_0;
  const uint32_t level = body->feature_level == 0 ? kLowestLevel : body->feature_level;
  HRESULT result = S_OK;
  if (options_.create_device) {
    *device.Receive() = options_.create_device(level);
    result = device ? S_OK : E_FAIL;
  } else {
    result = CreateRealDevice(library_, static_cast<D3D_FEATURE_LEVEL>(level), &device);
  }
  if (FAILED(result) || !device) {
    return Fail(PlayerFailure::kRefused, record.number,
                fmt::format("no device with feature level {}_{} can be made here: 0x{:08X}; check "
                            "with `vulkaninfo` that a Vulkan driver is installed",
                            level >> 12, level >> 8 & 0xF, static_cast<uint32_t>(result)),
                StatusCode::kNotFound);
  }
  new_devices_[record.object] = std::move(device);
  return Status();
}

Status PlayerImpl::OnObject(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok()) {
    return Fail(PlayerFailure::kCorrupt, record.number, body.status().message(),
                StatusCode::kCorrupt);
  }
  const Chain chain = trace_->ChainOf(body->chain);
  if (const auto device = new_devices_.find(record.object); device != new_devices_.end()) {
    const ComPtr<ID3D12Device> real = std::move(device->second);
    new_devices_.erase(device);
    return AddObject(record, *body, Chain::kID3D12Device, real.get(), 0, rest);
  }
  const auto creation = pending_.find(body->creator);
  if (chain != Chain::kNone && creation != pending_.end() && creation->second.created) {
    if (std::exchange(creation->second.claimed, true)) {
      return Fail(PlayerFailure::kCorrupt, record.number,
                  fmt::format("call {} made an object already", body->creator),
                  StatusCode::kCorrupt);
    }
    CAIRN_RETURN_IF_ERROR(AddObject(record, *body, chain, creation->second.created.get(),
                                    creation->second.initial_state, rest));
    ReplayObject* const object = objects_.Find(record.object);
    KeepFacts(object, std::move(creation->second.facts));
    const Status cleared = ClearMemory(object, creation->second);
    if (cleared.ok() || failure_ != PlayerFailure::kNone) return cleared;
    return Fail(PlayerFailure::kCorrupt, record.number, cleared.message(), StatusCode::kCorrupt);
  }
  if (chain == Chain::kID3D12Resource && body->facts == kResourceFacts && body->creator == 0) {
    return CreateImage(record, *body, rest);
  }
  if (creation != pending_.end() && TreatmentOf(creation->second.method) == Treatment::kImport) {
    Skip(fmt::format("{}: no replay has what it opens", Describe(creation->second.method).name));
  }
  objects_.AddAbsent(record.object, body->facts == kDescriptorHeapFacts);
  return Status();
}

Status PlayerImpl::AddObject(const Record& record, const ObjectBody& body, Chain chain,
                             IUnknown* real, uint32_t initial_state,
                             std::span<const std::byte> facts) {
  const auto refuse = [&](const Status& status) {
    return Fail(PlayerFailure::kCorrupt, record.number, status.message(), StatusCode::kCorrupt);
  };
  Result<ReplayObject*> object = objects_.Add(record.object, chain, body.device, real);
  if (!object.ok()) return refuse(object.status());
  if (chain == Chain::kID3D12Device) {
    auto context = std::make_unique<DeviceContext>();
    context->device = ComPtr<ID3D12Device>((*object)->As<ID3D12Device>());
    if (options_.on_device) options_.on_device(DescribeDevice(library_, context->device.get()));
    devices_[record.object] = std::move(context);
  }
  if (chain == Chain::kID3D12Fence) {
    fences_.Create(record.object, (*object)->As<ID3D12Fence>()->GetCompletedValue());
  }
  if (chain == Chain::kID3D12CommandQueue) {
    if (DeviceContext* const context = ContextOf(body.device); context != nullptr) {
      context->queues[record.object] = {};
    }
  }
  NoteSignature(body.creator, record.object);
  if (body.facts == kResourceFacts) {
    Result<ResourceFacts> resource = DecodeBody<ResourceFacts>(&facts);
    if (!resource.ok()) return refuse(resource.status());
    if (const Status set = objects_.SetFacts(*object, *resource); !set.ok()) return refuse(set);
    if (DeviceContext* const context = ContextOf(body.device); context != nullptr) {
      context->states.Add(record.object, StatefulOf((*object)->desc, initial_state));
    }
  } else if (body.facts == kDescriptorHeapFacts) {
    Result<DescriptorHeapFacts> heap = DecodeBody<DescriptorHeapFacts>(&facts);
    if (!heap.ok()) return refuse(heap.status());
    if (const Status set = objects_.SetFacts(*object, *heap); !set.ok()) return refuse(set);
  }
  return Status();
}

// A texture of the same description stands for an image that a window system gave the program.
Status PlayerImpl::CreateImage(const Record& record, const ObjectBody& body,
                               std::span<const std::byte> facts) {
  std::span<const std::byte> rest = facts;
  Result<ResourceFacts> image = DecodeBody<ResourceFacts>(&rest);
  DeviceContext* const context = ContextOf(body.device);
  if (!image.ok() || image->is_image == 0 || context == nullptr) {
    return Fail(PlayerFailure::kCorrupt, record.number,
                fmt::format("object {} comes from nowhere", record.object), StatusCode::kCorrupt);
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
    return Fail(PlayerFailure::kRefused, record.number,
                fmt::format("this device refuses a texture in place of a swap chain's image "
                            "({} x {}, format {}) with 0x{:08X}",
                            desc.Width, desc.Height, static_cast<int>(desc.Format),
                            static_cast<uint32_t>(result)));
  }
  return AddObject(record, body, Chain::kID3D12Resource, texture.get(), image->initial_state,
                   facts);
}

Status PlayerImpl::OnObjectEnd(const Record& record) {
  constexpr size_t kMostEnded = 1024;
  ReplayObject* const object = objects_.Find(record.object);
  DeviceContext* const context = object == nullptr ? nullptr : ContextOf(object->device);
  if (object != nullptr && object->chain == Chain::kID3D12CommandQueue && context != nullptr) {
    CAIRN_RETURN_IF_ERROR(WaitForQueue(record.object, context));
    context->queues.erase(record.object);
  }
  if (object != nullptr && object->chain == Chain::kID3D12Device) {
    CAIRN_RETURN_IF_ERROR(WaitForDevice(record.object));
    devices_.erase(record.object);
  } else if (context != nullptr) {
    context->states.Remove(record.object);
    // Not only submissions use objects: tile mappings and residency do, too.
    context->ended.push_back(object->pointer);
    if (context->ended.size() >= kMostEnded) CAIRN_RETURN_IF_ERROR(SweepEnded(context));
  }
  if (object != nullptr) EndBindings(*object);
  fences_.Remove(record.object);
  lists_.erase(record.object);
  addresses_.Remove(record.object);
  objects_.Remove(record.object);
  return Status();
}

Status PlayerImpl::OnNote(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<NoteBody> body = DecodeBody<NoteBody>(&rest);
  if (!body.ok() || body->text_bytes > rest.size()) {
    return Fail(PlayerFailure::kCorrupt, record.number, "the note is too short",
                StatusCode::kCorrupt);
  }
  if (body->kind != static_cast<uint32_t>(NoteKind::kTracking)) {
    Note("recorded: " + std::string(reinterpret_cast<const char*>(rest.data()), body->text_bytes));
  }
  return Status();
}

PlayerImpl::DeviceContext* PlayerImpl::ContextOf(uint64_t device) {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : found->second.get();
}

Status PlayerImpl::Fail(PlayerFailure failure, uint64_t number, const std::string& what,
                        StatusCode code) {
  if (failure_ == PlayerFailure::kNone) {
    failure_ = failure;
    failed_call_ = number;
  }
  return Status(code, fmt::format("record {}: {}", number, what));
}

Status PlayerImpl::FailCall(PlayerFailure failure, const CallInProgress& call,
                            const std::string& what, StatusCode code) {
  if (failure_ == PlayerFailure::kNone) {
    failure_ = failure;
    failed_call_ = call.record.number;
  }
  return Status(code, fmt::format("call {}, {}: {}", call.record.number, call.info.name, what));
}

void PlayerImpl::Skip(const std::string& note) {
  ++result_.skipped;
  Note("left out: " + note);
}

void PlayerImpl::Note(const std::string& note) {
  constexpr size_t kMostNotes = 1000;
  if (noted_.size() >= kMostNotes || !noted_.insert(note).second) return;
  result_.notes.push_back(note);
  if (options_.on_note) options_.on_note(note);
}

bool PlayerImpl::Interrupted() {
  if (!options_.interrupted || !options_.interrupted()) return false;
  result_.interrupted = true;
  stop_ = true;
  return true;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
