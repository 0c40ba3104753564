// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d11_markers.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "cairn/markers.h"

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/d3d11_backend.h"
#include "app/breadcrumbs/d3d11_labels.h"
#include "app/breadcrumbs/d3d11_layer_hooks.h"
#include "app/breadcrumbs/d3d11_selftest.h"
#include "app/recorder/block_writer.h"
#include "os/clock.h"

namespace cairn {
namespace {

static_assert(kD3D11OwnSlots == kD3D11TestSlots);
constexpr uint64_t kResetTimeoutNs = 2'000'000'000;

struct DestroyContext {
  void operator()(Context* context) const { Context::Destroy(context); }
};
using OwnContext = std::unique_ptr<Context, DestroyContext>;

// The device of Direct3D 11 in the report, with so many slots.
Result<OwnContext> MakeContext(std::unique_ptr<Backend> backend, uint32_t slot_count) {
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.mode = CAIRN_MODE_TOP;
  desc.frame_history_length = 1;
  desc.max_command_lists = 1;
  desc.raw_marker_count = slot_count;
  desc.block_size_bytes = kDefaultBlockBytes;
  const Result<BlockWriter*> block = BlockWriter::OfThisProcess(kDefaultBlockBytes);
  if (!block.ok()) return block.status();
  const Result<Context*> context = Context::Create(desc, *block, std::move(backend));
  if (!context.ok()) return context.status();
  return OwnContext(*context);
}

// Markers that the API can order.
class CountedMarkers final : public D3D11Markers {
 public:
  CountedMarkers(const D3D11Objects& objects, OwnContext context)
      : objects_(objects), context_(std::move(context)) {
    facts_.method = context_->block()->contexts()[context_->index()].method;
    // The application writes none, but AGS gives it out so.
    facts_.slots = const_cast<volatile uint64_t*>(context_->raw_markers());
  }
  Status Write(PipeLocation where, uint32_t index, uint64_t value) override {
    {
      const D3D11OwnCalls own(objects_.context.get());
      CAIRN_RETURN_IF_ERROR(context_->WriteRaw(objects_.context.get(), where, index, value));
    }
    // A top marker says what a bottom marker says.
    NoteD3D11RawMarker(objects_.context.get(), context_->index(),
                       {PipeLocation::kBottom, index, value});
    return Status();
  }

 private:
  const D3D11Objects objects_;
  const OwnContext context_;
};

// Markers that another library writes, into its own slots.
class ForeignMarkers final : public D3D11Markers {
 public:
  using Writer = std::function<Status(PipeLocation, uint32_t, uint64_t)>;

  ForeignMarkers(const D3D11Objects& objects, WriteMethod method, volatile uint64_t* slots,
                 Writer write)
      : objects_(objects), write_(std::move(write)) {
    facts_ = {method, slots, true, false};
  }

  // Tests the slots behind the application's, and restores them afterwards.
  SourceFinding Test(std::string name, uint32_t first) {
    D3D11MarkerFinding found = TestD3D11Markers(
        objects_, {std::move(name),
                   [&](PipeLocation where, uint32_t slot, uint64_t value) {
                     return write_(where, first + slot, value);
                   },
                   [&](uint32_t slot) -> uint64_t { return facts_.slots[first + slot]; }});
    facts_.top_seen_early = found.top_seen_early;
    if (found.works && !Reset(first)) {
      found.source.state = SourceState::kFailed;
      found.source.reason = "slots could not be set back";
    }
    return std::move(found.source);
  }

  // Slots that the block has to have a copy of; none if they lie there.
  Status Show(uint32_t copied_slots, std::vector<SourceFinding> findings) {
    Result<OwnContext> context = MakeContext(
        CreateD3D11CopyBackend(objects_, facts_.method, facts_.slots, std::move(findings)),
        copied_slots);
    if (!context.ok()) return context.status();
    context_ = std::move(*context);
    return Status();
  }

  Status Write(PipeLocation where, uint32_t index, uint64_t value) override {
    CAIRN_RETURN_IF_ERROR(write_(where, index, value));
    // The Vulkan layer, which has the slots and the lists, records labels by itself.
    if (facts_.method != WriteMethod::kD3D11Labels) {
      NoteD3D11RawMarker(objects_.context.get(), context_->index(), {where, index, value});
    }
    return Status();
  }

 private:
  // Resets the slots by the GPU, which may be the only writer of the CPU's view of them.
  bool Reset(uint32_t first) {
    for (uint32_t slot = 0; slot < kD3D11TestSlots; ++slot) {
      if (!write_(PipeLocation::kBottom, first + slot, CAIRN_MARKER_UNWRITTEN).ok()) return false;
    }
    objects_.context->Flush();
    const uint64_t end_ns = MonotonicNs() + kResetTimeoutNs;
    while (facts_.slots[first + kD3D11TestSlots - 1] != CAIRN_MARKER_UNWRITTEN) {
      if (MonotonicNs() > end_ns) return false;
      std::this_thread::yield();
    }
    return true;
  }

  const D3D11Objects objects_;
  const Writer write_;
  OwnContext context_;
};

// Through labels, if the Vulkan layer saw the device made.
Result<std::unique_ptr<D3D11Markers>> OpenLabelMarkers(const D3D11Objects& objects,
                                                       uint32_t marker_count,
                                                       const RawMarkerScope& below,
                                                       std::vector<SourceFinding>* findings) {
  constexpr char kName[] = "labels for the Vulkan layer";
  const auto fail = [&](SourceState state, std::string reason) {
    findings->push_back({kName, state, std::move(reason)});
    return Status(StatusCode::kUnsupported, findings->back().reason);
  };
  if (below.slots() == nullptr) {
    return fail(SourceState::kAbsent,
                "VK_LAYER_CAIRN_breadcrumbs did not see a Vulkan device made for this one");
  }
  Result<D3D11Labels> labels = D3D11Labels::Open(objects, below.method());
  if (!labels.ok()) return fail(SourceState::kFailed, labels.status().message());
  auto markers = std::make_unique<ForeignMarkers>(
      objects, WriteMethod::kD3D11Labels, const_cast<volatile uint64_t*>(below.slots()),
      [labels = std::move(*labels)](PipeLocation where, uint32_t index, uint64_t value) mutable {
        labels.Write(where, index, value);
        return Status();
      });
  SourceFinding found = markers->Test(kName, marker_count);
  if (found.state != SourceState::kPresent) return fail(found.state, std::move(found.reason));
  findings->push_back(std::move(found));
  CAIRN_RETURN_IF_ERROR(markers->Show(0, *findings));
  return std::unique_ptr<D3D11Markers>(std::move(markers));
}

}  // namespace

Result<std::unique_ptr<D3D11Markers>> OpenD3D11Markers(const D3D11Objects& objects,
                                                       uint32_t marker_count,
                                                       const RawMarkerScope& below,
                                                       std::vector<SourceFinding> findings) {
  Result<std::unique_ptr<D3D11Markers>> labels =
      OpenLabelMarkers(objects, marker_count, below, &findings);
  if (labels.ok()) return labels;
  Result<OwnContext> context = MakeContext(CreateD3D11Backend(objects, std::move(findings)),
                                           std::max(marker_count, kD3D11TestSlots));
  if (!context.ok()) return context.status();
  return std::unique_ptr<D3D11Markers>(
      std::make_unique<CountedMarkers>(objects, std::move(*context)));
}

Result<std::unique_ptr<D3D11Markers>> OpenAmdMarkers(
    const D3D11Objects& objects, uint32_t marker_count, volatile uint64_t* slots,
    std::function<Status(PipeLocation where, uint32_t index, uint64_t value)> write,
    std::vector<SourceFinding>* findings) {
  auto markers =
      std::make_unique<ForeignMarkers>(objects, WriteMethod::kAmdAgs, slots, std::move(write));
  SourceFinding found = markers->Test("AMD's amd_ags_x64.dll", marker_count);
  const bool works = found.state == SourceState::kPresent;
  findings->push_back(std::move(found));
  if (!works) return Status(StatusCode::kUnsupported, findings->back().reason);
  CAIRN_RETURN_IF_ERROR(markers->Show(marker_count, *findings));
  return std::unique_ptr<D3D11Markers>(std::move(markers));
}

}  // namespace cairn
