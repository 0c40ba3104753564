// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d11_backend.h"

#include <dxgi.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "cairn/markers.h"

#include "app/breadcrumbs/d3d11_counter.h"
#include "app/breadcrumbs/d3d11_selftest.h"
#include "format/pix/text_decode.h"
#include "os/library.h"

namespace cairn {
namespace {

constexpr uint32_t kMirrorPeriodUs = 500;
constexpr size_t kMostWaiting = 65536;

// The common part of both backends: slots in the block that the CPU fills.
class D3D11Backend : public Backend {
 public:
  D3D11Backend(const D3D11Objects& objects, std::vector<SourceFinding> findings)
      : objects_(objects), findings_(std::move(findings)) {}

  void Identify(BackendDescription* description) override {
    DescribeD3D11Device(objects_, description);
  }
  Status Initialize(const WordRegion& region, BackendDescription* description) override {
    slots_ = reinterpret_cast<std::atomic<uint64_t>*>(region.base + region.raw_markers_offset);
    slot_count_ = region.raw_marker_count;
    const Status status = Open(&description->method);
    description->sources = std::move(findings_);
    CAIRN_RETURN_IF_ERROR(status);
    DescribeD3D11Device(objects_, description);
    description->memory = WordMemory::kMirrored;
    description->mirror_period_us = kMirrorPeriodUs;
    return Status();
  }
  Status BeginList(BackendList&) override {
    return Status(StatusCode::kUnsupported, "Direct3D 11 has raw markers only");
  }
  bool WriteProgress(BackendList&, WordKind, PipeLocation, uint32_t) override { return false; }
  void ReleaseList(BackendList&) override {}

 protected:
  virtual Status Open(WriteMethod* method) = 0;

  const D3D11Objects& objects() const { return objects_; }
  std::vector<SourceFinding>& findings() { return findings_; }
  std::atomic<uint64_t>& slot(uint32_t index) const { return slots_[index]; }
  uint32_t slot_count() const { return slot_count_; }

 private:
  const D3D11Objects objects_;
  std::vector<SourceFinding> findings_;  // until Initialize
  std::atomic<uint64_t>* slots_ = nullptr;
  uint32_t slot_count_ = 0;
};

class CountingBackend final : public D3D11Backend {
 public:
  using D3D11Backend::D3D11Backend;

  bool TellsTopOfPipe() const override { return false; }

  Status WriteRaw(void* native, PipeLocation, uint32_t index, uint64_t value) override {
    if (index >= slot_count()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("raw marker {} of {}", index, slot_count()));
    }
    if (static_cast<ID3D11DeviceContext*>(native)->GetType() != D3D11_DEVICE_CONTEXT_IMMEDIATE) {
      return Status(StatusCode::kUnsupported, "a deferred context cannot be asked how far it is");
    }
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) {
      return Status(StatusCode::kOutOfMemory,
                    fmt::format("{} raw markers wait for the GPU", kMostWaiting));
    }
    waiting_.push_back({last_ + 1, index, value});
    const Status status = counter_->Signal(last_ + 1);
    if (status.ok()) {
      ++last_;
    } else {
      waiting_.pop_back();
    }
    return status;
  }

  void Mirror() override {
    // The holder of the lock copies as well, or writes a marker that cannot have arrived. In a
    // crash handler the holder may never release it.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || counter_ == nullptr || waiting_.empty()) return;
    const uint64_t done = counter_->Done();
    while (!waiting_.empty() && waiting_.front().number <= done) {
      slot(waiting_.front().index).store(waiting_.front().value, std::memory_order_release);
      waiting_.pop_front();
    }
  }

 private:
  struct Waiting {
    uint64_t number;
    uint32_t index;
    uint64_t value;
  };

  Status Open(WriteMethod* method) override {
    Result<std::unique_ptr<D3D11Counter>> counter = MakeD3D11Counter(objects(), &findings());
    if (!counter.ok()) return counter.status();
    counter_ = std::move(*counter);
    *method = counter_->method();
    if (slot_count() < kD3D11TestSlots) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the self-test needs {} raw markers", kD3D11TestSlots));
    }
    D3D11MarkerFinding found = TestD3D11Markers(
        objects(), {*method == WriteMethod::kD3D11Fence ? "ID3D11Fence" : "D3D11_QUERY_EVENT",
                    [this](PipeLocation where, uint32_t index, uint64_t value) {
                      return WriteRaw(objects().context.get(), where, index, value);
                    },
                    [this](uint32_t index) {
                      Mirror();
                      return slot(index).load(std::memory_order_acquire);
                    }});
    if (found.works) found.source.reason += "; a top marker says what a bottom marker says";
    const std::string reason = found.source.reason;
    findings().push_back(std::move(found.source));
    for (uint32_t i = 0; i < kD3D11TestSlots; ++i) slot(i).store(CAIRN_MARKER_UNWRITTEN);
    return found.works ? Status() : Status(StatusCode::kUnsupported, reason);
  }

  std::unique_ptr<D3D11Counter> counter_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
  uint64_t last_ = 0;
};

class CopyBackend final : public D3D11Backend {
 public:
  CopyBackend(const D3D11Objects& objects, WriteMethod method, const volatile uint64_t* slots,
              std::vector<SourceFinding> findings)
      : D3D11Backend(objects, std::move(findings)), method_(method), theirs_(slots) {}

  Status WriteRaw(void*, PipeLocation, uint32_t, uint64_t) override {
    return Status(StatusCode::kUnsupported, "somebody else writes the markers of this device");
  }
  void Mirror() override {
    for (uint32_t i = 0; i < slot_count(); ++i) {
      const uint64_t value = theirs_[i];
      if (slot(i).load(std::memory_order_relaxed) != value) slot(i).store(value);
    }
  }

 private:
  Status Open(WriteMethod* method) override {
    *method = method_;
    return Status();
  }

  const WriteMethod method_;
  const volatile uint64_t* const theirs_;
};

std::string VersionOf(IDXGIAdapter* adapter) {
  LARGE_INTEGER version = {};
  if (FAILED(adapter->CheckInterfaceSupport(__uuidof(IDXGIDevice), &version))) return "";
  const auto bits = static_cast<uint64_t>(version.QuadPart);
  return fmt::format(", driver {}.{}.{}.{}", bits >> 48, bits >> 32 & 0xFFFF, bits >> 16 & 0xFFFF,
                     bits & 0xFFFF);
}

}  // namespace

void DescribeD3D11Device(const D3D11Objects& objects, BackendDescription* description) {
  description->api = Api::kD3D11;
  description->device_name = "Direct3D 11 device";
  description->driver_name = LibraryNameOf(**reinterpret_cast<void** const*>(objects.device.get()));
  const ComPtr<IDXGIDevice> device = objects.device.As<IDXGIDevice>();
  ComPtr<IDXGIAdapter> adapter;
  DXGI_ADAPTER_DESC desc = {};
  if (!device || FAILED(device->GetAdapter(reinterpret_cast<IDXGIAdapter**>(adapter.Receive()))) ||
      FAILED(adapter->GetDesc(&desc))) {
    return;
  }
  const std::span<const WCHAR> name(desc.Description, wcsnlen(desc.Description, 128));
  description->device_name = DecodeUtf16(std::as_bytes(name)).text;
  description->driver_name += VersionOf(adapter.get());
  description->vendor_id = desc.VendorId;
  description->device_id = desc.DeviceId;
}

std::unique_ptr<Backend> CreateD3D11Backend(const D3D11Objects& objects,
                                            std::vector<SourceFinding> findings) {
  return std::make_unique<CountingBackend>(objects, std::move(findings));
}

std::unique_ptr<Backend> CreateD3D11CopyBackend(const D3D11Objects& objects, WriteMethod method,
                                                const volatile uint64_t* slots,
                                                std::vector<SourceFinding> findings) {
  return std::make_unique<CopyBackend>(objects, method, slots, std::move(findings));
}

}  // namespace cairn
