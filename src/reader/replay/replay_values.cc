// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/replay_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>

#include "format/calls/object_text.h"
#include "reader/replay/null_checks.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// "ID3D12CommandList* const*" -> its interface; null if it is none.
const InterfaceInfo* InterfaceNamed(std::string_view type) {
  if (type.starts_with("const ")) type.remove_prefix(6);
  type = type.substr(0, type.find_first_of("* "));
  for (const InterfaceInfo& known : Interfaces()) {
    if (type == known.name) return &known;
  }
  return nullptr;
}

// For each method: the interface that several chains have and that its parameters are declared as.
std::array<const InterfaceInfo*, kMethodCount> FindShared() {
  std::array<const InterfaceInfo*, kMethodCount> result = {};
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    for (const ParameterInfo& parameter : Describe(static_cast<Method>(i)).parameters) {
      if (parameter.kind == ValueKind::kObject && parameter.chain == Chain::kNone &&
          parameter.direction == Direction::kIn && result[i] == nullptr) {
        result[i] = InterfaceNamed(parameter.type);
      }
    }
  }
  return result;
}

template <typename T>
T ValueAt(const std::vector<void*>& arguments, size_t index) {
  return *static_cast<const T*>(arguments[index]);
}

Status OfType(const ReplayDescriptor& descriptor, D3D12_DESCRIPTOR_HEAP_TYPE type) {
  if (descriptor.heap == kNoObject) return Status(StatusCode::kCorrupt, "a descriptor is null");
  if (descriptor.heap_type == type) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("heap {} holds descriptors of type {}, not {}", descriptor.heap,
                            static_cast<int>(descriptor.heap_type), static_cast<int>(type)));
}

Status InHeap(const ReplayDescriptor& first, uint64_t count) {
  if (first.index + count <= first.heap_count) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("{} descriptors from {} on in heap {}, which has {}", count,
                            first.index, first.heap, first.heap_count));
}

Status AllOfType(const std::vector<ReplayDescriptor>& descriptors,
                 D3D12_DESCRIPTOR_HEAP_TYPE type) {
  for (const ReplayDescriptor& descriptor : descriptors) {
    CAIRN_RETURN_IF_ERROR(OfType(descriptor, type));
  }
  return Status();
}

// One side of CopyDescriptors: `count` ranges, whose sizes are 1 each without an array.
Status RangesInHeaps(const std::vector<ReplayDescriptor>& descriptors, size_t first, uint32_t count,
                     const UINT* sizes, D3D12_DESCRIPTOR_HEAP_TYPE type, uint64_t* total) {
  for (uint32_t i = 0; i < count; ++i) {
    if (first + i >= descriptors.size()) {
      return Status(StatusCode::kCorrupt, "ranges of descriptors without a start");
    }
    const uint64_t size = sizes == nullptr ? 1 : sizes[i];
    CAIRN_RETURN_IF_ERROR(OfType(descriptors[first + i], type));
    CAIRN_RETURN_IF_ERROR(InHeap(descriptors[first + i], size));
    *total += size;
  }
  return Status();
}

// Leaves `left` descriptors in one side of CopyDescriptors. Returns how many ranges those are.
uint32_t CutRanges(const std::vector<void*>& arguments, size_t count_at, size_t sizes_at,
                   uint64_t left) {
  UINT* const count = static_cast<UINT*>(arguments[count_at]);
  // Decoded for this call alone.
  auto* const sizes = const_cast<UINT*>(ValueAt<const UINT*>(arguments, sizes_at));
  UINT kept = 0;
  for (; kept < *count && left != 0; ++kept) {
    const uint64_t size = std::min<uint64_t>(sizes == nullptr ? 1 : sizes[kept], left);
    if (sizes != nullptr) sizes[kept] = static_cast<UINT>(size);
    left -= size;
  }
  return *count = kept;
}

Status CheckCopy(const std::vector<void*>& arguments, std::vector<ReplayDescriptor>* all) {
  const std::vector<ReplayDescriptor>& descriptors = *all;
  const UINT to_count = ValueAt<UINT>(arguments, 0);
  const UINT from_count = ValueAt<UINT>(arguments, 3);
  const auto type = static_cast<D3D12_DESCRIPTOR_HEAP_TYPE>(ValueAt<UINT>(arguments, 6));
  uint64_t to = 0;
  uint64_t from = 0;
  CAIRN_RETURN_IF_ERROR(
      RangesInHeaps(descriptors, 0, to_count, ValueAt<const UINT*>(arguments, 2), type, &to));
  CAIRN_RETURN_IF_ERROR(RangesInHeaps(descriptors, to_count, from_count,
                                      ValueAt<const UINT*>(arguments, 5), type, &from));
  if (to == from) return Status();
  // Implementations copy what both have. One that counts otherwise would leave their heaps.
  const uint32_t to_kept = CutRanges(arguments, 0, 2, std::min(to, from));
  const uint32_t from_kept = CutRanges(arguments, 3, 5, std::min(to, from));
  all->resize(to_count + from_kept);
  all->erase(all->begin() + to_kept, all->begin() + to_count);
  return Status();
}

// The targets that a call sets, and what is behind the first where one handle stands for all.
Status CheckTargets(const std::vector<ReplayDescriptor>& descriptors, uint32_t count,
                    bool has_targets, bool is_range, bool has_depth) {
  if (count > D3D12_SIMULTANEOUS_RENDER_TARGET_COUNT || (count != 0 && !has_targets)) {
    return Status(StatusCode::kCorrupt, fmt::format("{} render targets", count));
  }
  const size_t targets = !has_targets ? 0 : is_range ? std::min(count, 1u) : count;
  if (descriptors.size() != targets + (has_depth ? 1 : 0)) {
    return Status(StatusCode::kCorrupt, "targets without a descriptor");
  }
  for (size_t i = 0; i < targets; ++i) {
    // A null descriptor is a target that is not drawn into.
    if (descriptors[i].heap == kNoObject && !is_range) continue;
    CAIRN_RETURN_IF_ERROR(OfType(descriptors[i], D3D12_DESCRIPTOR_HEAP_TYPE_RTV));
    if (is_range) CAIRN_RETURN_IF_ERROR(InHeap(descriptors[i], count));
  }
  if (!has_depth || descriptors.back().heap == kNoObject) return Status();
  return OfType(descriptors.back(), D3D12_DESCRIPTOR_HEAP_TYPE_DSV);
}

// Checks data behind pointers that implementations use without checking.
Status CheckFields(Method method, const std::vector<void*>& arguments) {
  switch (method) {
    case Method::ID3D12Device_CreateGraphicsPipelineState:
      return CheckPipeline(*ValueAt<const D3D12_GRAPHICS_PIPELINE_STATE_DESC*>(arguments, 0));
    case Method::ID3D12Device_CreateComputePipelineState:
      return CheckShader(ValueAt<const D3D12_COMPUTE_PIPELINE_STATE_DESC*>(arguments, 0)->CS);
    case Method::ID3D12Device2_CreatePipelineState:
      return CheckPipelineStream(*ValueAt<const D3D12_PIPELINE_STATE_STREAM_DESC*>(arguments, 0));
    // These are created anew from their descriptions.
    case Method::ID3D12PipelineLibrary_LoadGraphicsPipeline:
      return CheckPipeline(*ValueAt<const D3D12_GRAPHICS_PIPELINE_STATE_DESC*>(arguments, 1));
    case Method::ID3D12PipelineLibrary_LoadComputePipeline:
      return CheckShader(ValueAt<const D3D12_COMPUTE_PIPELINE_STATE_DESC*>(arguments, 1)->CS);
    case Method::ID3D12PipelineLibrary1_LoadPipeline:
      return CheckPipelineStream(*ValueAt<const D3D12_PIPELINE_STATE_STREAM_DESC*>(arguments, 1));
    case Method::ID3D12Device5_CreateStateObject:
    case Method::ID3D12Device7_AddToStateObject:
      return CheckStateObject(*ValueAt<const D3D12_STATE_OBJECT_DESC*>(arguments, 0));
    case Method::ID3D12Device_CreateCommandSignature: {
      const auto* const desc = ValueAt<const D3D12_COMMAND_SIGNATURE_DESC*>(arguments, 0);
      return desc->NumArgumentDescs == 0 ? Status()
                                         : NotNull(desc->pArgumentDescs, "pArgumentDescs");
    }
    case Method::ID3D12GraphicsCommandList_CopyTextureRegion:
      for (const size_t i : {size_t{0}, size_t{4}}) {
        CAIRN_RETURN_IF_ERROR(NotNull(
            ValueAt<const D3D12_TEXTURE_COPY_LOCATION*>(arguments, i)->pResource, "pResource"));
      }
      return Status();
    case Method::ID3D12GraphicsCommandList_ResourceBarrier: {
      const auto* const barriers = ValueAt<const D3D12_RESOURCE_BARRIER*>(arguments, 1);
      for (UINT i = 0; i < ValueAt<UINT>(arguments, 0); ++i) {
        if (barriers[i].Type != D3D12_RESOURCE_BARRIER_TYPE_TRANSITION) continue;
        CAIRN_RETURN_IF_ERROR(NotNull(barriers[i].Transition.pResource, "pResource"));
      }
      return Status();
    }
    default: return Status();
  }
}

// An optional array that is null although there are elements. Some methods give that a meaning.
Status CheckOptional(Method method, const ParameterInfo& parameter) {
  switch (method) {
    case Method::ID3D12Device_CopyDescriptors:
    case Method::ID3D12CommandQueue_UpdateTileMappings:
    case Method::ID3D12GraphicsCommandList2_WriteBufferImmediate:
    case Method::ID3D12Device1_CreatePipelineLibrary:
    case Method::ID3D12GraphicsCommandList_OMSetRenderTargets:
    // The implementation decides if null removes the buffers or keeps them.
    case Method::ID3D12GraphicsCommandList_IASetVertexBuffers: return Status();
    case Method::ID3D12GraphicsCommandList_SOSetTargets:
      return Status(
          StatusCode::kUnsupported,
          fmt::format("{} is null, which this implementation does not take", parameter.name));
    default: return NotNull(nullptr, parameter.name);
  }
}

// Calls that set a list's first pipeline, which may be null.
bool BeginsAList(Method method) {
  const CallRole& role = RoleOf(method);
  const bool begins =
      role.role == Role::kListReset || role.role == Role::kClearState || role.role == Role::kCreate;
  return begins && role.value != kNoParameter &&
         Describe(method).parameters[static_cast<size_t>(role.value)].chain ==
             Chain::kID3D12PipelineState;
}

D3D12_DESCRIPTOR_HEAP_TYPE HeapTypeOf(ViewKind view) {
  switch (view) {
    case ViewKind::kRenderTarget: return D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
    case ViewKind::kDepthStencil: return D3D12_DESCRIPTOR_HEAP_TYPE_DSV;
    case ViewKind::kSampler: return D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER;
    case ViewKind::kNone:
    case ViewKind::kConstantBuffer:
    case ViewKind::kShaderResource:
    case ViewKind::kUnorderedAccess: break;
  }
  return D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
}

// Returns what objects without a chain of their own have to be in calls of a method.
const InterfaceInfo* SharedOf(Method method) {
  static const std::array<const InterfaceInfo*, kMethodCount> shared = FindShared();
  return shared[static_cast<size_t>(method)];
}

}  // namespace

Status ReplayValues::Object(Chain declared, uint64_t* place) {
  const uint64_t number = *place;
  if (number == kNoObject) return Status();
  if (number == kForeignObject) {
    return Status(StatusCode::kUnsupported, "it uses an object that Cairn does not know");
  }
  ReplayObject* const object = objects_->Find(number);
  if (object == nullptr) {
    if (objects_->IsAbsent(number) && declared == Chain::kID3D12PipelineState &&
        BeginsAList(method_)) {
      lost_pipeline_ = true;
      *place = 0;
      return Status();
    }
    if (objects_->IsAbsent(number)) {
      return Status(StatusCode::kUnsupported,
                    "it uses an object whose creation this replay had to skip");
    }
    return Status(StatusCode::kCorrupt, fmt::format("there is no object {} here", number));
  }
  const InterfaceInfo* const shared = declared == Chain::kNone ? SharedOf(method_) : nullptr;
  const bool fits = declared != Chain::kNone
                        ? declared == object->chain
                        : shared != nullptr && DerivesFrom(object->version, shared);
  if (!fits) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} stands where another kind of object belongs",
                              ObjectText(object->chain, number)));
  }
  const ReplayObject* const device = objects_->Find(object->device);
  if (device_ != nullptr && device != nullptr && object->chain != Chain::kID3D12Device &&
      device->pointer.get() != device_) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} is of another device", ObjectText(object->chain, number)));
  }
  *place = reinterpret_cast<uint64_t>(object->pointer.get());
  return Status();
}

Status ReplayValues::GpuAddress(uint64_t* place) {
  if (*place == 0) return Status();
  Result<uint64_t> real = objects_->RealAddress(*place);
  if (real.ok()) {
    *place = *real;
    return Status();
  }
  // Programs may leave what they do not use, and addresses behind the end of a buffer.
  if (RoleOf(method_).state == StateKind::kVertexBuffers) {
    *place = 0;
    return Status();
  }
  return Status(StatusCode::kUnsupported, "it uses an address that is in no buffer");
}

Status ReplayValues::Descriptor(const Result<ReplayDescriptor>& real, uint64_t* place) {
  if (!real.ok()) {
    return Status(objects_->absent_descriptors() ? StatusCode::kUnsupported : StatusCode::kCorrupt,
                  real.status().message());
  }
  descriptors_.push_back(*real);
  *place = real->real;
  return Status();
}

Status ReplayValues::CpuDescriptor(uint64_t* place) {
  if (*place == 0) {
    descriptors_.push_back({.heap = kNoObject});
    return Status();
  }
  return Descriptor(objects_->RealCpuDescriptor(*place), place);
}

Status ReplayValues::GpuDescriptor(uint64_t* place) {
  if (*place == 0) {
    descriptors_.push_back({.heap = kNoObject});
    return Status();
  }
  const Result<ReplayDescriptor> real = objects_->RealGpuDescriptor(*place);
  // The table may be in a heap that is not here.
  if (real.ok() || objects_->absent_descriptors() ||
      RoleOf(method_).root != RootArgumentKind::kTable) {
    return Descriptor(real, place);
  }
  descriptors_.push_back({.heap = kNoObject, .outside = *place});
  if (cpu_reads_tables_) *place = 0;
  return Status();
}

// A replay needs no events.
Status ReplayValues::Handle(HandleKind kind, uint64_t* place) {
  if (kind == HandleKind::kEvent) {
    had_event_ = *place != 0;
    *place = 0;
  }
  if (*place == 0) return Status();
  return Status(StatusCode::kUnsupported, "it uses a handle of the process that was recorded");
}

Status ReplayValues::Callback(uint64_t* place) {
  if (*place == 0) return Status();
  return Status(StatusCode::kUnsupported, "it passes a function of the program");
}

bool HasDescriptorRules(const CallRole& role) {
  return role.view != ViewKind::kNone || role.state == StateKind::kRenderTargets ||
         role.role == Role::kBeginPass || role.role == Role::kCopyViews ||
         role.role == Role::kCopyViewRanges;
}

Status CheckDescriptors(Method method, const std::vector<void*>& arguments,
                        std::vector<ReplayDescriptor>* all) {
  if (!HasDescriptorRules(RoleOf(method))) return Status();
  const std::vector<ReplayDescriptor>& descriptors = *all;
  const CallRole& role = RoleOf(method);
  if (role.view != ViewKind::kNone) return AllOfType(descriptors, HeapTypeOf(role.view));
  if (role.state == StateKind::kRenderTargets) {
    return CheckTargets(
        descriptors, ValueAt<UINT>(arguments, 0), ValueAt<const void*>(arguments, 1) != nullptr,
        ValueAt<BOOL>(arguments, 2) != 0, ValueAt<const void*>(arguments, 3) != nullptr);
  }
  switch (role.role) {
    case Role::kBeginPass:
      return CheckTargets(descriptors, ValueAt<UINT>(arguments, 0),
                          ValueAt<const void*>(arguments, 1) != nullptr, /*is_range=*/false,
                          ValueAt<const void*>(arguments, 2) != nullptr);
    case Role::kCopyViewRanges: return CheckCopy(arguments, all);
    case Role::kCopyViews: {
      const uint32_t count = ValueAt<UINT>(arguments, 0);
      const auto type = static_cast<D3D12_DESCRIPTOR_HEAP_TYPE>(ValueAt<UINT>(arguments, 3));
      if (count == 0) return Status();
      if (descriptors.size() != 2) {
        return Status(StatusCode::kCorrupt, "a copy of descriptors from or to nowhere");
      }
      for (const ReplayDescriptor& descriptor : descriptors) {
        CAIRN_RETURN_IF_ERROR(OfType(descriptor, type));
        CAIRN_RETURN_IF_ERROR(InHeap(descriptor, count));
      }
      return Status();
    }
    default: return Status();
  }
}

namespace {

// A bit for each parameter that is a pointer which the program passes, to a fixed number of values as well.
using PointerBits = uint32_t;

std::array<PointerBits, kMethodCount> FindPointers() {
  std::array<PointerBits, kMethodCount> result = {};
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    PointerBits bit = 1;
    for (const ParameterInfo& parameter : Describe(static_cast<Method>(i)).parameters) {
      const bool is_pointer = parameter.pointers != 0 || parameter.array_length > 1;
      if (is_pointer && parameter.direction != Direction::kOut) result[i] |= bit;
      bit <<= 1;
    }
  }
  return result;
}

PointerBits PointersOf(Method method) {
  static const std::array<PointerBits, kMethodCount> pointers = FindPointers();
  return pointers[static_cast<size_t>(method)];
}

// A pointer that is null.
Status CheckNull(Method called, const ParameterInfo& parameter,
                 const std::vector<void*>& arguments) {
  // An array without elements may be null; more than one factor is rare, and then each counts.
  bool empty = parameter.count.factor_count != 0;
  if (parameter.count.factor_count == 1 &&
      parameter.count.factors[0].kind == CountFactor::Kind::kSibling &&
      parameter.count.factors[0].value < arguments.size()) {
    empty = ValueAt<uint32_t>(arguments, parameter.count.factors[0].value) == 0;
  }
  if (empty) return Status();
  if (!parameter.optional) return NotNull(nullptr, parameter.name);
  return parameter.count.factor_count == 1 ? CheckOptional(called, parameter) : Status();
}

}  // namespace

bool HasPointers(Method method) {
  return PointersOf(method) != 0;
}

Status CheckPointers(Method called, const std::vector<void*>& arguments) {
  PointerBits bits = PointersOf(called);
  if (bits == 0) return Status();
  for (; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    if (i >= arguments.size()) break;
    if (arguments[i] == nullptr || ValueAt<void*>(arguments, i) != nullptr) continue;
    CAIRN_RETURN_IF_ERROR(CheckNull(called, Describe(called).parameters[i], arguments));
  }
  return CheckFields(called, arguments);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
