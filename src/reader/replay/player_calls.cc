// SPDX-License-Identifier: Apache-2.0
//
// Calls: from decoded arguments to the real ones, and what few methods need beside that.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "cairn/marker_types.h"

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"
#include "d3d12gen/enums.h"
#include "d3d12gen/invoke.h"
#include "format/calls/object_text.h"
#include "format/calls/value_encoder.h"
#include "format/pix/pix_event.h"
#include "os/clock.h"
#include "reader/replay/creation_facts.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr size_t kLargestResult = 256;

bool IsResourceDesc(const ParameterInfo& parameter) {
  return std::string_view(parameter.type).starts_with("const D3D12_RESOURCE_DESC");
}

// Returns the initial state of the resource that a call creates.
uint32_t InitialStateOf(const MethodInfo& info, const std::vector<void*>& arguments) {
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    const std::string_view type = info.parameters[i].type;
    if (type != "D3D12_RESOURCE_STATES" && type != "D3D12_BARRIER_LAYOUT") continue;
    uint32_t value = 0;
    std::memcpy(&value, arguments[i], sizeof(value));
    return type == "D3D12_RESOURCE_STATES" ? value : StateOfLayout(value);
  }
  return 0;
}

}  // namespace

Status PlayerImpl::Decode(CallInProgress* call) {
  const bool is_device = call->object->chain == Chain::kID3D12Device;
  const ReplayObject* const device = is_device ? call->object : objects_.Find(call->object->device);
  values_.Begin(call->method, device == nullptr ? nullptr : device->pointer.get());
  CAIRN_RETURN_IF_ERROR(
      DecodeArguments(call->info, call->record.body, decode_options_, &arena_, &call->arguments));
  return CheckCall(call);
}

Result<void*> PlayerImpl::Target(const CallInProgress& call) {
  const InterfaceInfo* const wanted = InterfaceOf(call.method);
  if (wanted == nullptr || wanted->chain == Chain::kNone) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} has no method {}",
                              ObjectText(call.object->chain, call.object->number), call.info.name));
  }
  if (wanted->chain == call.object->chain) {
    return Status(StatusCode::kNotFound, fmt::format("this device has no {}", wanted->name));
  }
  if (Describe(wanted->chain).owner != call.object->chain) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} has no method {}",
                              ObjectText(call.object->chain, call.object->number), call.info.name));
  }
  GUID iid;
  std::memcpy(&iid, &wanted->iid, sizeof(iid));
  ComPtr<IUnknown> further;
  if (FAILED(call.object->pointer->QueryInterface(iid, further.Receive())) || !further) {
    return Status(StatusCode::kNotFound, fmt::format("this device has no {}", wanted->name));
  }
  // Lives as long as the object that it belongs to.
  return further.get();
}

Status PlayerImpl::MakeCall(CallInProgress* call) {
  const bool is_declared = HasMethod(*call);
  void* target = is_declared ? call->object->pointer.get() : nullptr;
  if (!is_declared) {
    const Result<void*> further = Target(*call);
    // Waits for several fences are the playback's own.
    const bool is_made = RoleOf(call->method).replay != Replay::kAwaitEvents;
    if (further.ok()) {
      target = *further;
    } else if (further.status().code() != StatusCode::kNotFound) {
      return further.status();
    } else if (is_made) {
      return LeaveOutCall(*call, further.status().message(), /*device_lacks=*/true);
    }
  }
  CAIRN_RETURN_IF_ERROR(Decode(call));
  if (call->Needs(CallPart::kCreationChecks)) CAIRN_RETURN_IF_ERROR(CheckCreation(call));
  if (call->Needs(CallPart::kMetaParameters)) CAIRN_RETURN_IF_ERROR(TranslateMetaParameters(call));
  if (own_heap_) own_heap_ = {};
  if (had_another_) {
    bool skipped = false;
    CAIRN_RETURN_IF_ERROR(MakeRoom(call, &skipped));
    if (skipped) return Status();
  }
  ++log_.result().calls;
  const uint64_t object = call->record.object;
  switch (RoleOf(call->method).replay) {
    case Replay::kAwaitValue: {
      AddPending(*call).waits = {{object, 0}};
      return Status();
    }
    case Replay::kAwaitEvent:
    case Replay::kAwaitEvents: return RememberWait(call);
    case Replay::kSubmit: return Execute(call, target);
    case Replay::kMap: return MapResource(call, target);
    case Replay::kCompare: return AskFeature(call, target);
    case Replay::kLoseDevice: return RemoveDevice(call, target);
    case Replay::kUnmap: {
      const auto mapping = call->object->maps.find(call->At<UINT>(0));
      // Unmap without Map is an error of the program that harms only an implementation.
      if (mapping == call->object->maps.end()) return Status();
      if (--mapping->second.count == 0) call->object->maps.erase(mapping);
      break;
    }
    default: break;
  }
  if (options_.mark_frames && MarksFrame(call)) return Status();
  return Make(call, target);
}

// The ends of frames are marked by the playback itself: as the program marked them, or in its place.
bool PlayerImpl::MarksFrame(CallInProgress* call) {
  if (call->method != Method::ID3D12CommandQueue_SetMarker) return false;
  const auto* const data = call->At<const std::byte*>(1);
  const std::span<const std::byte> payload(data, data == nullptr ? 0 : call->At<UINT>(2));
  return PixText(call->At<UINT>(0), payload) == "cairn:frame";
}

Status PlayerImpl::Make(CallInProgress* call, void* target) {
  const int out = RoleOf(call->method).created;
  // A question whether an object could be created: it changes nothing.
  if (out >= 0 && call->At<void*>(static_cast<size_t>(out)) == nullptr) return Status();
  if (RoleOf(call->method).replay == Replay::kBuild) return LoadPipeline(call);
  if (call->Needs(CallPart::kAdjustments)) CAIRN_RETURN_IF_ERROR(Adjust(call));
  alignas(16) std::byte result[kLargestResult];
  if (call->info.result.size_bytes != 0) std::memset(result, 0, sizeof(result));
  if (options_.pad_resources_bytes == 0 || !CopyPadded(call, target)) {
    Invoke(call->method, target, call->arguments.arguments.data(), result);
  }
  if (had_another_) PlaceRefused(call, target, result);
  if (call->info.has_results) KeepPending(call, result);
  if (call->Needs(CallPart::kStates)) NoteStates(call);
  HRESULT outcome = S_OK;
  if (call->info.result.size_bytes == sizeof(outcome)) {
    std::memcpy(&outcome, result, sizeof(outcome));
  }
  if (own_heap_) DropOwnHeap(outcome);
  if (SUCCEEDED(outcome)) {
    if (call->Needs(CallPart::kViewNotes)) views_.Note(call, values_.descriptors());
    if (call->Needs(CallPart::kBindingNotes)) {
      bindings_.Note(call, values_.descriptors(), values_.lost_pipeline());
    }
    if (values_.lost_pipeline() || !values_.descriptors().empty()) NoteSubstitutes(*call);
  }
  if (call->Needs(CallPart::kAddresses)) NoteAddresses(call, result);
  if (had_another_) CAIRN_RETURN_IF_ERROR(FollowMoved(*call, outcome));
  return call->Needs(CallPart::kSignals) ? AfterCall(call) : Status();
}

void PlayerImpl::NoteSubstitutes(const CallInProgress& call) {
  if (values_.lost_pipeline()) {
    log_.LeaveOut(call.record.number,
                  fmt::format("{}: its pipeline, which could not be made here", call.info.name));
  }
  for (const ReplayDescriptor& descriptor : values_.descriptors()) {
    if (descriptor.outside == 0) continue;
    log_.Note(
        fmt::format("call {}, {}: descriptor 0x{:x} was in no heap; {}", call.record.number,
                    call.info.name, descriptor.outside,
                    library_.is_libvkd3d ? "here the table is null" : "it is passed on as it is"));
  }
}

// Changes arguments for this replay.
Status PlayerImpl::Adjust(CallInProgress* call) {
  if (RoleOf(call->method).replay == Replay::kEmpty) {
    call->At<const void*>(0) = nullptr;
    call->At<SIZE_T>(1) = 0;
  }
  CutCommands(call);
  if (!library_.takes_null && call->Needs(CallPart::kNulls)) {
    CAIRN_RETURN_IF_ERROR(ReplaceNull(call));
  }
  const CallRole& role = RoleOf(call->method);
  if (role.memory == ResourceMemory::kPlaced) AdjustPlaced(call);
  if (options_.pad_resources_bytes == 0 || role.memory != ResourceMemory::kCommitted) {
    const bool never = role.replay != Replay::kEmpty && role.memory == ResourceMemory::kNone &&
                       call->method != Method::ID3D12GraphicsCommandList_ExecuteIndirect &&
                       (library_.takes_null || !call->Needs(CallPart::kNulls));
    return never ? call->Needless(CallPart::kAdjustments) : Status();
  }
  for (size_t i = 0; i < call->info.parameters.size(); ++i) {
    if (!IsResourceDesc(call->info.parameters[i])) continue;
    // D3D12_RESOURCE_DESC1 begins with the fields of D3D12_RESOURCE_DESC.
    auto* const desc = call->At<D3D12_RESOURCE_DESC*>(i);
    if (desc != nullptr && desc->Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
      if (desc->Width > std::numeric_limits<UINT64>::max() - options_.pad_resources_bytes) {
        return Status(StatusCode::kCorrupt,
                      fmt::format("a buffer of {} bytes cannot be {} bytes larger", desc->Width,
                                  options_.pad_resources_bytes));
      }
      desc->Width += options_.pad_resources_bytes;
    }
  }
  return Status();
}

Status PlayerImpl::ReplaceNull(CallInProgress* call) {
  switch (call->method) {
    case Method::ID3D12GraphicsCommandList_IASetVertexBuffers: {
      static constexpr D3D12_VERTEX_BUFFER_VIEW kNone[D3D12_IA_VERTEX_INPUT_RESOURCE_SLOT_COUNT] =
          {};
      auto& views =
          call->At<const D3D12_VERTEX_BUFFER_VIEW*>(2);  // no more than those: was checked
      if (views == nullptr) views = kNone;
      return Status();
    }
    case Method::ID3D12GraphicsCommandList_IASetIndexBuffer: {
      auto& view = call->At<const D3D12_INDEX_BUFFER_VIEW*>(0);
      if (view != nullptr && view->BufferLocation == 0) view = nullptr;
      return Status();
    }
    case Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView:
    case Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView:
    case Method::ID3D12GraphicsCommandList_SetGraphicsRootShaderResourceView:
    case Method::ID3D12GraphicsCommandList_SetComputeRootShaderResourceView:
    case Method::ID3D12GraphicsCommandList_SetGraphicsRootUnorderedAccessView:
    case Method::ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView: {
      DeviceContext* const context = devices_.Find(call->object->device);
      if (call->At<UINT64>(1) != 0 || context == nullptr) return Status();
      const Result<uint64_t> zeros = AddressOfZeros(context);
      if (!zeros.ok()) return zeros.status();
      call->At<UINT64>(1) = *zeros;
      return Status();
    }
    default: return call->Needless(CallPart::kNulls);
  }
}

// Returns the address of a buffer of zeros, which newer releases of libvkd3d use for a null
// address.
Result<uint64_t> PlayerImpl::AddressOfZeros(DeviceContext* context) {
  constexpr uint64_t kBytes = 65536;  // the largest constant buffer
  if (context->zeros) return context->zeros->GetGPUVirtualAddress();
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  const D3D12_RESOURCE_DESC desc = BufferDesc(kBytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  ComPtr<ID3D12Resource> buffer;
  if (FAILED(context->device->CreateCommittedResource(
          &heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
          __uuidof(ID3D12Resource), buffer.Receive()))) {
    return Status(StatusCode::kUnsupported,
                  "this implementation takes no null address there, and there is no memory for "
                  "zeros in its place");
  }
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  CAIRN_RETURN_IF_ERROR(context->Readback().WriteBuffer(
      *queue, buffer.get(), 0, std::vector<std::byte>(kBytes), D3D12_RESOURCE_STATE_COMMON));
  context->zeros = std::move(buffer);
  return context->zeros->GetGPUVirtualAddress();
}

// Creates the pipeline instead of loading it: only the library knows its name; the description and
// the other arguments are those of a creation.
Status PlayerImpl::LoadPipeline(CallInProgress* call) {
  const DeviceContext* const context = devices_.Find(call->object->device);
  if (context == nullptr || context->lost) return LeaveOutCall(*call, "its device is not there");
  void* target = context->device.get();
  Method create = Method::ID3D12Device2_CreatePipelineState;
  ComPtr<ID3D12Device2> newer;
  if (call->method == Method::ID3D12PipelineLibrary_LoadGraphicsPipeline) {
    create = Method::ID3D12Device_CreateGraphicsPipelineState;
  } else if (call->method == Method::ID3D12PipelineLibrary_LoadComputePipeline) {
    create = Method::ID3D12Device_CreateComputePipelineState;
  } else {
    newer = context->device.As<ID3D12Device2>();
    if (!newer) {
      return LeaveOutCall(*call, "this device has no ID3D12Device2", /*device_lacks=*/true);
    }
    target = newer.get();
  }
  HRESULT result = E_FAIL;
  Invoke(create, target, call->arguments.arguments.data() + 1, &result);
  KeepPending(call, &result);
  return Status();
}

// Only one of the buffers was made larger: what they have in common is what they had. False: there is
// nothing like that about the call.
bool PlayerImpl::CopyPadded(CallInProgress* call, void* target) {
  if (options_.pad_resources_bytes == 0 ||
      call->method != Method::ID3D12GraphicsCommandList_CopyResource) {
    return false;
  }
  auto* const to = call->At<ID3D12Resource*>(0);
  auto* const from = call->At<ID3D12Resource*>(1);
  const UINT64 widths[2] = {GetDesc(to).Width, GetDesc(from).Width};
  if (GetDesc(to).Dimension != D3D12_RESOURCE_DIMENSION_BUFFER || widths[0] == widths[1]) {
    return false;
  }
  static_cast<ID3D12GraphicsCommandList*>(target)->CopyBufferRegion(to, 0, from, 0,
                                                                    std::min(widths[0], widths[1]));
  return true;
}

void PlayerImpl::KeepPending(CallInProgress* call, const void* result) {
  if (!call->info.has_results) return;
  Pending& pending = AddPending(*call);
  pending.made = true;
  if (call->info.result.size_bytes == sizeof(HRESULT)) {
    std::memcpy(&pending.result, result, sizeof(HRESULT));
  }
  const int out = RoleOf(call->method).created;
  if (out < 0 || FAILED(pending.result)) return;
  void** const place = *static_cast<void***>(call->arguments.arguments[static_cast<size_t>(out)]);
  *pending.created.Receive() = *place;  // with the reference that the call gave
  pending.initial_state = InitialStateOf(call->info, call->arguments.arguments);
  pending.committed = RoleOf(call->method).memory == ResourceMemory::kCommitted || own_heap_;
  pending.facts = FactsOf(call, values_.lost_pipeline());
  if (own_heap_) pending.facts.own_heap = ComPtr<IUnknown>(std::exchange(own_heap_, {}).get());
}

Status PlayerImpl::RememberWait(CallInProgress* call) {
  std::vector<FenceValue> waits;
  bool any = false;
  if (RoleOf(call->method).replay == Replay::kAwaitEvent) {
    waits.push_back({call->record.object, call->At<UINT64>(0)});
  } else {
    any = (call->At<UINT>(3) & D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY) != 0;
    auto* const* const fences = call->At<ID3D12Fence**>(0);
    const UINT64* const values = call->At<const UINT64*>(1);
    for (UINT i = 0; i < call->At<UINT>(2); ++i) {
      if (values != nullptr) waits.push_back({objects_.NumberOf(fences[i]), values[i]});
    }
  }
  if (waits.empty()) return Status();
  if (!values_.had_event()) {
    // The call itself waited: so does its result.
    Pending& pending = AddPending(*call);
    pending.waits = std::move(waits);
    pending.waits_for_any = any;
    return Status();
  }
  // The trace says where the wait had ended.
  if ((call->record.flags & kRecordWaitFollowed) != 0) return Status();
  if (any) return waits_.AwaitWhenReachable(waits);
  for (const FenceValue& wait : waits) CAIRN_RETURN_IF_ERROR(waits_.AwaitWhenReachable({wait}));
  return Status();
}

// Updates the values of fences and the waits for them.
Status PlayerImpl::AfterCall(CallInProgress* call) {
  const CallRole& role = RoleOf(call->method);
  const uint64_t object = call->record.object;
  if (!role.signals && role.role != Role::kWait) return call->Needless(CallPart::kSignals);
  // A fence that signals itself names none.
  const uint64_t fence = role.object == kNoParameter
                             ? object
                             : objects_.NumberOf(call->At<void*>(static_cast<size_t>(role.object)));
  const auto value = call->At<UINT64>(static_cast<size_t>(role.value));
  if (role.role == Role::kWait) {
    waits_.fences().WaitOnQueue(object, fence, value);
    return Status();
  }
  if (role.timeline == Timeline::kQueue) {
    waits_.fences().SignalFromQueue(object, fence, value);
    waits_.unfinished().Signalled(object, fence, value);
    // The program's wait for this value is no part of the trace. The next signal must not be enqueued before it is
    // there: on libvkd3d 1.2 a fence with two signals in flight may end with the value of the first.
    if ((call->record.flags & kRecordRestores) != 0) {
      return waits_.AwaitWhenReachable({{fence, value}});
    }
  } else {
    waits_.fences().SignalFromCpu(fence, value);
  }
  return waits_.AwaitReachable();
}

// The program gives the device up. An implementation that takes it at its word does nothing for it any more, here
// as there; others do as if nothing had been said.
Status PlayerImpl::RemoveDevice(CallInProgress* call, void* target) {
  // The program may still read results of the work that the GPU has by now.
  CAIRN_RETURN_IF_ERROR(waits_.WaitForDevice(call->record.object));
  DeviceContext* const context = devices_.Find(call->record.object);
  if (context == nullptr || context->lost || log_.result().interrupted) return Status();
  CAIRN_RETURN_IF_ERROR(Make(call, target));
  if (SUCCEEDED(context->device->GetDeviceRemovedReason())) return Status();
  devices_.RecordLoss(call->record.object);
  context->lost = true;
  return Status();
}

Status PlayerImpl::MapResource(CallInProgress* call, void* target) {
  const UINT subresource = call->At<UINT>(0);
  const bool wants_address = call->At<void**>(2) != nullptr;
  void* data = nullptr;
  // The program's range says what the CPU reads; a replay reads where a readback is compared.
  const HRESULT result = static_cast<ID3D12Resource*>(target)->Map(subresource, nullptr,
                                                                   wants_address ? &data : nullptr);
  KeepPending(call, &result);
  if (FAILED(result)) return Status();
  ReplayObject::Mapping& mapping = call->object->maps[subresource];
  ++mapping.count;
  if (data != nullptr) mapping.data = static_cast<std::byte*>(data);
  return Status();
}

// Counts the commands of each list: executing it costs as much as was recorded into it.
void PlayerImpl::CountCost(CallInProgress& call) {
  const uint64_t number = call.record.object;
  const CallRole& role = RoleOf(call.method);
  if (role.role == Role::kListReset) return cost_.Reset(number);
  if (role.role == Role::kBundle)
    return cost_.Include(number, objects_.NumberOf(call.At<void*>(0)));
  if (role.timeline == Timeline::kList) cost_.Record(number);
}

Status PlayerImpl::Execute(CallInProgress* call, void* target) {
  const uint64_t number = call->record.number;
  const UINT count = call->At<UINT>(0);
  ID3D12CommandList** const lists = call->At<ID3D12CommandList**>(1);
  std::vector<ID3D12CommandList*> chosen;
  std::vector<const ListStates*> states;
  std::vector<uint64_t> numbers;
  DeviceContext* const context = devices_.Find(call->object->device);
  for (UINT i = 0; i < count; ++i) {
    if (IsLeftOut(number, i)) continue;
    if (lists[i] == nullptr) return Status(StatusCode::kCorrupt, "a command list is null");
    const Status recorded = bindings_.CheckRecorded(objects_.NumberOf(lists[i]));
    if (!recorded.ok()) {
      log_.LeaveOut(number, fmt::format("a list that is submitted: {}", recorded.message()));
      continue;
    }
    chosen.push_back(lists[i]);
    numbers.push_back(objects_.NumberOf(lists[i]));
    cost_.AddSubmission();
    cost_.Execute(numbers.back());
    states.push_back(&lists_[numbers.back()]);
    if (context != nullptr && context->is_another) {
      cost_.AddComparisons(context->lists.CountOf(numbers.back()));
      if (context->lists.IsStale(numbers.back(), context->structures)) ++stale_lists_;
    }
  }
  if (chosen.empty() && count != 0) return Status();
  auto* const queue = static_cast<ID3D12CommandQueue*>(target);
  uint64_t start_ns = 0;
  size_t begin = 0;
  do {
    size_t together = 0;
    CAIRN_RETURN_IF_ERROR(
        PatchAddresses(call, queue, std::span(numbers).subspan(begin), &together));
    if (begin == 0 && options_.on_submission) options_.on_submission(number);
    // The work may end this process before the call returns.
    if (context != nullptr) waits_.unfinished().Submitted(call->record.object, number);
    if (begin == 0) start_ns = MonotonicNs();
    queue->ExecuteCommandLists(static_cast<UINT>(together), chosen.data() + begin);
    CAIRN_RETURN_IF_ERROR(TellStaleAddresses(*call, queue, start_ns));
    begin += together;
    if (begin == chosen.size()) break;
    // The next lists read the addresses that these have written.
    if (context != nullptr) {
      CAIRN_RETURN_IF_ERROR(waits_.WaitForQueue(call->record.object, context, start_ns));
    }
  } while (context == nullptr || !context->lost);
  if (context == nullptr) return Status();
  context->states.Execute(states, GetDesc(queue).Type == D3D12_COMMAND_LIST_TYPE_COPY);
  if (!options_.canary) return Status();
  CAIRN_RETURN_IF_ERROR(waits_.WaitForSubmission(call->record.object, context, start_ns));
  GiveBytes(number, call->record.object, context, queue);
  return Status();
}

const KeptParts* PlayerImpl::KeptOf(const CallInProgress& call) const {
  const std::optional<KeptParts>& kept = options_.kept_parts;
  return kept && kept->call == call.record.number ? &*kept : nullptr;
}

void PlayerImpl::CutCommands(CallInProgress* call) {
  const KeptParts* const kept = KeptOf(*call);
  if (kept == nullptr || call->method != Method::ID3D12GraphicsCommandList_ExecuteIndirect) return;
  UINT& count = call->At<UINT>(1);
  const uint64_t end = std::min<uint64_t>(count, kept->end);
  const uint64_t first = std::min(end, kept->first);
  count = static_cast<UINT>(end - first);
  call->At<UINT64>(3) += first * kept->stride_bytes;
}

// Tracks the states of resources that command lists set: images are copied out of them in their
// current state.
void PlayerImpl::NoteStates(CallInProgress* call) {
  const CallRole& role = RoleOf(call->method);
  const auto number_of = [&](const void* resource) { return objects_.NumberOf(resource); };
  const auto list = [&]() -> ListStates& { return lists_[call->record.object]; };
  if (role.timeline != Timeline::kList) return (void)call->Needless(CallPart::kStates);
  if (role.role == Role::kListReset) return list().Reset();
  if (role.role == Role::kBarrier && call->info.work == CAIRN_MARKER_BARRIER) {
    return NoteBarrierGroups(&list(), call->At<const D3D12_BARRIER_GROUP*>(1), call->At<UINT32>(0),
                             number_of);
  }
  if (role.role == Role::kBarrier) {
    return NoteBarriers(&list(), call->At<const D3D12_RESOURCE_BARRIER*>(1), call->At<UINT>(0),
                        number_of);
  }
  switch (call->method) {
    case Method::ID3D12GraphicsCommandList_CopyResource:
      list().CopiedInto(number_of(call->At<void*>(0)), kAllSubresources);
      return;
    case Method::ID3D12GraphicsCommandList_CopyTextureRegion: {
      const auto* const to = call->At<const D3D12_TEXTURE_COPY_LOCATION*>(0);
      if (to != nullptr && to->Type == D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX) {
        list().CopiedInto(number_of(to->pResource), to->SubresourceIndex);
      }
      return;
    }
    default: (void)call->Needless(CallPart::kStates);
  }
}

// ---- Differences between devices ----

// This device's answer, kept until the recorded one comes.
Status PlayerImpl::AskFeature(CallInProgress* call, void* target) {
  auto* const data = call->At<void*>(1);
  const UINT size = call->At<UINT>(2);
  const HRESULT result = static_cast<ID3D12Device*>(target)->CheckFeatureSupport(
      static_cast<D3D12_FEATURE>(call->At<UINT>(0)), data, size);
  KeepPending(call, &result);
  Pending& pending = pending_[call->record.number];
  pending.made = false;  // that it fails is a difference, not the end
  pending.feature = call->At<UINT>(0);
  const auto* const bytes = static_cast<const std::byte*>(data);
  if (SUCCEEDED(result)) pending.answer.assign(bytes, bytes + size);
  return Status();
}

namespace {

// `recorded` has as many bytes as `answer`.
bool SameAnswer(uint32_t feature, const std::byte* recorded, std::span<const std::byte> answer) {
  if (feature == D3D12_FEATURE_FEATURE_LEVELS &&
      answer.size() == sizeof(D3D12_FEATURE_DATA_FEATURE_LEVELS)) {
    // The levels that are asked about lie in the memory of each process.
    const size_t place = offsetof(D3D12_FEATURE_DATA_FEATURE_LEVELS, MaxSupportedFeatureLevel);
    return std::memcmp(recorded + place, answer.data() + place, sizeof(D3D_FEATURE_LEVEL)) == 0;
  }
  return std::memcmp(recorded, answer.data(), answer.size()) == 0;
}

}  // namespace

// Compares the result of a query of features. Differences are reported when a call is refused.
Status PlayerImpl::CompareFeature(const Record& record, const Pending& pending,
                                  std::span<const std::byte> results) {
  DecodedCall recorded;
  arena_.Reset();
  DecodeOptions options;
  options.blobs = trace_;
  options.wchar_bytes = library_.wchar_bytes;
  if (const Status status =
          DecodeResults(Describe(pending.method), results, options, &arena_, &recorded);
      !status.ok()) {
    log_.LeaveOut(record.number, "results: " + status.message());
    return Status();
  }
  HRESULT result = S_OK;
  std::memcpy(&result, recorded.result, sizeof(result));
  const bool same_outcome = SUCCEEDED(result) == SUCCEEDED(pending.result);
  const void* const data =
      recorded.arguments[1] == nullptr ? nullptr : *static_cast<void**>(recorded.arguments[1]);
  const bool same_data =
      FAILED(result) || data == nullptr || pending.answer.empty() ||
      (recorded.counts.size() > 1 && recorded.counts[1] == pending.answer.size() &&
       SameAnswer(pending.feature, static_cast<const std::byte*>(data), pending.answer));
  if (same_outcome && same_data) return Status();
  const EnumInfo* const features = FindEnum("D3D12_FEATURE");
  const char* const name =
      features == nullptr ? nullptr : EnumeratorName(*features, pending.feature);
  different_features_[pending.feature] =
      name == nullptr ? fmt::format("feature {}", pending.feature) : name;
  return Status();
}

// "; the devices differ in ...", or nothing.
std::string PlayerImpl::Differences() const {
  std::string text;
  for (const auto& [feature, name] : different_features_) {
    text += text.empty() ? "; the devices differ in " : ", ";
    text += name;
  }
  return text;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
