// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d11_counter.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace cairn {
namespace {

// The value of a fence whose device is lost.
constexpr uint64_t kLost = UINT64_MAX;

class FenceCounter final : public D3D11Counter {
 public:
  FenceCounter(ComPtr<ID3D11Fence> fence, ComPtr<ID3D11DeviceContext4> context)
      : fence_(std::move(fence)), context_(std::move(context)) {}

  WriteMethod method() const override { return WriteMethod::kD3D11Fence; }
  Status Signal(uint64_t number) override {
    return StatusOf("ID3D11DeviceContext4::Signal", context_->Signal(fence_.get(), number));
  }
  uint64_t Done() override {
    const uint64_t value = fence_->GetCompletedValue();
    if (value != kLost) done_ = std::max(done_, value);
    return done_;
  }

 private:
  const ComPtr<ID3D11Fence> fence_;
  const ComPtr<ID3D11DeviceContext4> context_;
  uint64_t done_ = 0;
};

class QueryCounter final : public D3D11Counter {
 public:
  explicit QueryCounter(const D3D11Objects& objects) : objects_(objects) {}

  WriteMethod method() const override { return WriteMethod::kD3D11EventQuery; }
  Status Signal(uint64_t number) override {
    Result<ComPtr<ID3D11Query>> query = Take();
    if (!query.ok()) return query.status();
    objects_.context->End(query->get());
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(number, std::move(*query));
    return Status();
  }
  uint64_t Done() override {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty() && IsDone(waiting_.front().second.get())) {
      done_ = waiting_.front().first;
      free_.push_back(std::move(waiting_.front().second));
      waiting_.pop_front();
    }
    return done_;
  }

 private:
  bool IsDone(ID3D11Query* query) const {
    BOOL done = FALSE;
    return objects_.context->GetData(query, &done, sizeof(done), D3D11_ASYNC_GETDATA_DONOTFLUSH) ==
               S_OK &&
           done != FALSE;
  }
  Result<ComPtr<ID3D11Query>> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        ComPtr<ID3D11Query> query = std::move(free_.back());
        free_.pop_back();
        return query;
      }
    }
    const D3D11_QUERY_DESC desc = {D3D11_QUERY_EVENT, 0};
    ComPtr<ID3D11Query> query;
    CAIRN_RETURN_IF_ERROR(StatusOf(
        "CreateQuery(D3D11_QUERY_EVENT)",
        objects_.device->CreateQuery(&desc, reinterpret_cast<ID3D11Query**>(query.Receive()))));
    return query;
  }

  const D3D11Objects objects_;
  std::mutex mutex_;
  std::deque<std::pair<uint64_t, ComPtr<ID3D11Query>>> waiting_;  // in order
  std::vector<ComPtr<ID3D11Query>> free_;
  uint64_t done_ = 0;
};

Result<std::unique_ptr<D3D11Counter>> MakeFenceCounter(const D3D11Objects& objects) {
  const ComPtr<ID3D11Device5> device = objects.device.As<ID3D11Device5>();
  ComPtr<ID3D11DeviceContext4> context = objects.context.As<ID3D11DeviceContext4>();
  if (!device || !context) {
    return Status(StatusCode::kUnsupported, "the device has no ID3D11Device5");
  }
  ComPtr<ID3D11Fence> fence;
  CAIRN_RETURN_IF_ERROR(StatusOf(
      "ID3D11Device5::CreateFence",
      device->CreateFence(0, D3D11_FENCE_FLAG_NONE, __uuidof(ID3D11Fence), fence.Receive())));
  return std::unique_ptr<D3D11Counter>(
      std::make_unique<FenceCounter>(std::move(fence), std::move(context)));
}

Result<std::unique_ptr<D3D11Counter>> MakeQueryCounter(const D3D11Objects& objects) {
  const ComPtr<ID3D11Multithread> protection = objects.context.As<ID3D11Multithread>();
  if (!protection) {
    return Status(StatusCode::kUnsupported,
                  "the immediate context has no ID3D11Multithread: no other thread may ask it");
  }
  protection->SetMultithreadProtected(TRUE);
  return std::unique_ptr<D3D11Counter>(std::make_unique<QueryCounter>(objects));
}

}  // namespace

Result<std::unique_ptr<D3D11Counter>> MakeD3D11Counter(const D3D11Objects& objects,
                                                       std::vector<SourceFinding>* findings) {
  Result<std::unique_ptr<D3D11Counter>> fence = MakeFenceCounter(objects);
  if (fence.ok()) return fence;
  findings->push_back({"ID3D11Fence", SourceState::kAbsent, fence.status().message()});
  Result<std::unique_ptr<D3D11Counter>> query = MakeQueryCounter(objects);
  if (!query.ok()) {
    findings->push_back({"D3D11_QUERY_EVENT", SourceState::kAbsent, query.status().message()});
  }
  return query;
}

}  // namespace cairn
