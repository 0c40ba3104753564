// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/raw_marker_text.h"
#include "app/d3d11/device.h"
#include "app/d3d11/work_notes.h"
#include "app/d3d12/object_name.h"
#include "app/replacement/methods.h"
#include "d3d11gen/methods.h"
#include "format/block/raw_marker_binds.h"

namespace cairn {
namespace {

template <typename Function, typename Object>
Function RealMethod(Object* object, D3D11Method method) {
  return reinterpret_cast<Function>(MethodBehind(object, Describe(method).slot));
}

// Finds out that submissions have ended by an event query behind each. A query holds references to
// the device that the program must not see: the device counts them as hidden. Releases each query
// once it has ended.
class SubmissionQueries {
 public:
  SubmissionQueries(D3D11Device& device, ID3D11DeviceContext* real)
      : device_(device), real_(real), queue_(real) {}
  ~SubmissionQueries() { Drop(); }
  SubmissionQueries(const SubmissionQueries&) = delete;
  SubmissionQueries& operator=(const SubmissionQueries&) = delete;

  // Adds a query behind all work of the context so far. With too many pending queries no further
  // one is added: work behind the pending ones has not ended either.
  void Add(uint64_t submission) {
    if (pending_.size() >= kMostPending) return;
    const D3D11_QUERY_DESC desc = {D3D11_QUERY_EVENT, 0};
    ID3D11Query* query = nullptr;
    const ULONG before = device_.CountReferences();
    if (FAILED(RealMethod<Create>(device_.real(), D3D11Method::kID3D11Device_CreateQuery)(
            device_.real(), &desc, &query))) {
      return;
    }
    RealMethod<End>(real_, D3D11Method::kID3D11DeviceContext_End)(real_, query);
    const ULONG references = device_.CountReferences() - before;
    device_.AddHidden(static_cast<int>(references));
    pending_.push_back({query, submission, static_cast<int>(references)});
  }

  void Look() {
    while (!pending_.empty()) {
      const Pending& first = pending_.front();
      const HRESULT result = RealMethod<Get>(real_, D3D11Method::kID3D11DeviceContext_GetData)(
          real_, first.query, nullptr, 0, D3D11_ASYNC_GETDATA_DONOTFLUSH);
      if (result != S_OK) return;
      static_cast<void>(device_.context().NotifyCompleted(queue_, first.submission).ok());
      Release(first);
      pending_.erase(pending_.begin());
    }
  }

  // The device ends.
  void Drop() {
    for (const Pending& pending : std::exchange(pending_, {})) Release(pending);
  }

 private:
  using Create = HRESULT (*)(ID3D11Device*, const D3D11_QUERY_DESC*, ID3D11Query**);
  using End = void (*)(ID3D11DeviceContext*, ID3D11Asynchronous*);
  using Get = HRESULT (*)(ID3D11DeviceContext*, ID3D11Asynchronous*, void*, UINT, UINT);
  struct Pending {
    ID3D11Query* query;
    uint64_t submission;
    int references;  // that it has on its device
  };
  void Release(const Pending& pending) {
    device_.AddHidden(-pending.references);
    pending.query->Release();
  }
  static constexpr size_t kMostPending = 8;

  D3D11Device& device_;
  ID3D11DeviceContext* const real_;
  void* const queue_;  // as the block knows it
  std::vector<Pending> pending_;
};

// The immediate context is one queue, and its work a row of lists. The implementation hands work to
// the GPU when it likes, so a list counts as submitted from its first work on; it ends where the
// program submits. The recording of a deferred context runs inside of a list of its own.
class ListNotes final : public WorkNotes {
 public:
  ListNotes(D3D11Device& device, ID3D11DeviceContext* real, bool deferred)
      : device_(device), real_(real), deferred_(deferred), queries_(device, real) {
    if (!deferred) {
      static_cast<void>(
          device.context().RegisterQueue(real, CAIRN_QUEUE_DIRECT, "immediate context").ok());
    }
  }
  ~ListNotes() override { Release(Close()); }

  void BeginWork(CairnMarkerType type, CairnPipeline pipeline) override {
    executes_ = type == CAIRN_MARKER_EXECUTE_COMMAND_LIST;
    if (executes_ && !deferred_) Release(Close());
    if (!Open()) return;
    if (executes_) {
      open_->BeginMarker(type, nullptr, CAIRN_NAME_STATIC);
    } else {
      NoteSubmission();
      open_->BeginWork(type, pipeline);
    }
  }
  void NoteArguments(const WorkArguments& arguments) override {
    if (open_ != nullptr) open_->NoteArguments(arguments);
  }
  void EndWork() override {
    if (open_ == nullptr) return;
    if (!executes_) return open_->EndWork();
    open_->EndMarker();
    if (!deferred_) Release(Close());
  }
  void Execute(CommandList* recording) override {
    if (open_ == nullptr) return;
    try {
      if (recording != nullptr) open_->ExecuteSecondary(*recording);
    } catch (const std::bad_alloc&) {
      // The list's own progress is not in the report.
    }
    NoteSubmission();
  }

  void BeginEvent(const wchar_t* name) override {
    try {
      events_.emplace_back(ObjectName(name, sizeof(wchar_t)).utf8());
    } catch (const std::bad_alloc&) {
      return;
    }
    if (open_ != nullptr) Begin(events_.back());
  }
  void EndEvent() override {
    if (events_.empty()) return;
    events_.pop_back();
    if (open_ != nullptr) open_->EndMarker();
  }
  void SetMarker(const wchar_t* name) override {
    if (!Open()) return;
    try {
      const std::string text(ObjectName(name, sizeof(wchar_t)).utf8());
      open_->BeginMarker(CAIRN_MARKER_SET_MARKER, text.c_str(), CAIRN_NAME_COPY);
      open_->EndMarker();
    } catch (const std::bad_alloc&) {
      // A marker is missing.
    }
  }

  void NoteRawMarker(uint32_t slots, const RawMarker& marker) override {
    if (!Open()) return;
    NoteSubmission();
    const Context& context = device_.context();
    if (slots < kMaxContexts && slots != context.index()) {
      RawMarkersOf(context.block()->contexts()[slots]).store(context.index() + 1);
    }
    const bool top = marker.where == PipeLocation::kTop;
    // A marker that finds no room is counted in the recording.
    static_cast<void>(open_->Bind(top ? kBindRawMarkerTop : kBindRawMarkerBottom, marker.index,
                                  marker.value, /*is_address=*/true));
  }

  void Submit() override {
    queries_.Look();
    Release(Close());
    if (submitted_ != followed_) queries_.Add(submitted_);
    followed_ = submitted_;
  }
  void Look() override { queries_.Look(); }

  void Drop() override { queries_.Drop(); }

  CommandList* Finish() override { return Close(); }

 private:
  bool Open() {
    if (open_ != nullptr) return true;
    CairnCommandListDesc desc = {};
    desc.struct_size = sizeof(desc);
    desc.flags = CAIRN_LIST_HELD | (deferred_ ? CAIRN_LIST_SECONDARY : 0);
    desc.native = real_;
    desc.queue_type = CAIRN_QUEUE_DIRECT;
    try {
      if (!device_.context().BeginCommandList(desc, &open_).ok()) open_ = nullptr;
    } catch (const std::bad_alloc&) {
      open_ = nullptr;
    }
    if (open_ == nullptr) return false;
    for (const std::string& event : events_) Begin(event);
    return true;
  }
  void Begin(const std::string& event) {
    open_->BeginMarker(CAIRN_MARKER_PASS, event.c_str(), CAIRN_NAME_COPY);
  }
  // Submits the open list at once, so that work recorded into it from now on counts as submitted.
  void NoteSubmission() {
    if (deferred_ || open_is_submitted_) return;
    Context& context = device_.context();
    open_is_submitted_ = context.NotifySubmit(real_, &open_, 1).ok() &&
                         context.LastSubmission(real_, &submitted_).ok();
  }
  // The program's open events end with the list; the next one begins with them again.
  CommandList* Close() {
    open_is_submitted_ = false;
    if (open_ == nullptr) return nullptr;
    for (size_t i = 0; i < events_.size(); ++i) open_->EndMarker();
    open_->End();
    return std::exchange(open_, nullptr);
  }
  void Release(CommandList* list) {
    if (list == nullptr) return;
    try {
      static_cast<void>(device_.context().ReleaseCommandList(list).ok());
    } catch (const std::bad_alloc&) {
      // A slot stays used until the device ends.
    }
  }

  D3D11Device& device_;
  ID3D11DeviceContext* const real_;
  const bool deferred_;
  bool executes_ = false;
  bool open_is_submitted_ = false;
  CommandList* open_ = nullptr;
  uint64_t submitted_ = 0;           // the last submission
  uint64_t followed_ = 0;            // the last one that a query stands behind
  std::vector<std::string> events_;  // open ones, outermost first
  SubmissionQueries queries_;
};

}  // namespace

std::unique_ptr<WorkNotes> MakeListNotes(D3D11Device& device, ID3D11DeviceContext* real,
                                         bool deferred) {
  return std::make_unique<ListNotes>(device, real, deferred);
}

}  // namespace cairn
