// SPDX-License-Identifier: Apache-2.0
#include "reader/view/call_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "d3d12gen/roles.h"
#include "format/calls/import_facts.h"
#include "format/calls/value_encoder.h"
#include "format/calls/value_shape.h"
#include "format/file/file_cost.h"
#include "format/model/recordings.h"
#include "format/trace/trace_state.h"
#include "reader/report/describe.h"
#include "reader/report/words.h"
#include "reader/view/call_lines.h"

namespace cairn::cli {
namespace {

// A call whose result is further away is printed without it.
constexpr size_t kMostPending = 4096;
constexpr size_t kMostPendingBytes = 64 << 20;
constexpr size_t kOutputBytes = 64 << 10;
// The records before a call that are searched first for the wanted calls around it, if names are
// not wanted, and the factor by which the range grows while too few are found.
constexpr uint64_t kRecordsPerContext = 64;
constexpr uint64_t kWindowGrowth = 8;

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

bool ContainsIgnoringCase(std::string_view text, std::string_view part) {
  for (size_t i = 0; i + part.size() <= text.size(); ++i) {
    if (EqualsIgnoringCase(text.substr(i, part.size()), part)) return true;
  }
  return false;
}

// The methods that are meant by a part of a name, or by all of one.
std::vector<bool> MethodsNamed(std::string_view function) {
  std::vector<bool> exact(kMethodCount), part(kMethodCount);
  bool any_exact = false;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const std::string_view name = Describe(static_cast<Method>(i)).name;
    exact[i] = EqualsIgnoringCase(ShortName(name), function) || EqualsIgnoringCase(name, function);
    part[i] = ContainsIgnoringCase(name, function);
    any_exact = any_exact || exact[i];
  }
  return any_exact ? exact : part;
}

// Keeps the numbers of the objects that a call was passed.
class ObjectCollector final : public ValueVisitor {
 public:
  Status Object(Chain, uint64_t* place) override {
    objects.push_back(*place);
    return {};
  }
  std::vector<uint64_t> objects;
};

// Objects as their numbers only.
const ValueNames kNumbersOnly;

class Lister {
 public:
  Lister(TraceReader& trace, const CallListingOptions& options, const GpuStates& gpu,
         const std::function<bool(std::string_view)>& print)
      : trace_(trace),
        options_(options),
        filter_(options.filter),
        gpu_(gpu),
        print_(print),
        state_(trace),
        call_lines_(trace, options.names ? static_cast<const ValueNames&>(state_) : kNumbersOnly),
        window_((options.filter.context + 1) * kRecordsPerContext),
        first_frame_(trace.first_frame().value_or(0)),
        budget_(FileBudget(trace.file().size_bytes(), kPrintedBytes)) {}

  Result<ListedCalls> Run() {
    CAIRN_RETURN_IF_ERROR(Prepare());
    std::optional<TraceCursor> cursor(trace_);
    CAIRN_RETURN_IF_ERROR(Seek(*cursor));
    if (!filter_.last_frame.has_value() && !filter_.around.has_value() &&
        filter_.most == ~uint64_t{0}) {
      cursor->ReadAhead();
    }
    while (!Read(*cursor)) {  // from further back
      lines_.clear();
      pending_bytes_ = 0;
      incomplete_.clear();
      listed_ = {};
      window_ = window_ > ~uint64_t{0} / kWindowGrowth ? ~uint64_t{0} : window_ * kWindowGrowth;
      cursor.emplace(trace_);
      CAIRN_RETURN_IF_ERROR(Seek(*cursor));
    }
    CAIRN_RETURN_IF_ERROR(cursor->status());
    if (listed_.calls == 0 && going_on_) CAIRN_RETURN_IF_ERROR(FindWhatWasAskedFor());
    if (filter_.around.has_value() && !found_around_ && going_on_) return NotAround();
    return listed_;
  }

 private:
  struct Line : CallLine {
    bool complete = false;
    std::optional<WorkState> gpu;
    size_t pending_bytes = 0;
  };

  // Reads on from the cursor. Returns false if that position was too near to the call that others
  // are wanted around.
  bool Read(TraceCursor& cursor) {
    Record record;
    bool reached_end = true;
    while (going_on_ && !is_short_ && cursor.Next(&record)) {
      if (options_.names) Note(record.number, state_.Apply(record));
      const uint64_t frame = first_frame_ + cursor.frame();
      const bool is_behind = (filter_.last_frame.has_value() && frame > *filter_.last_frame) ||
                             wanted_after_ == 0 || added_ >= filter_.most;
      // A pending call may have its result behind the last wanted frame.
      if (is_behind && (incomplete_.empty() || ++records_behind_ > kMostPending)) {
        reached_end = false;
        break;
      }
      Take(record, frame, is_behind);
    }
    if (std::exchange(is_short_, false)) return false;
    Finish(reached_end && going_on_, cursor.losses());
    return true;
  }

  // ---- What is wanted ----

  Status Prepare() {
    if (filter_.first_frame.has_value()) {
      const Result<uint64_t> frame = trace_.OrdinalOf(*filter_.first_frame);
      if (!frame.ok()) return frame.status();
      first_wanted_ = *frame;
    }
    if (!filter_.function.empty()) {
      methods_ = MethodsNamed(filter_.function);
      if (std::find(methods_.begin(), methods_.end(), true) == methods_.end()) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("no method's name contains '{}'", filter_.function));
      }
    }
    for (const TraceThread& thread : trace_.threads()) {
      if (thread.unreturned_call != 0) unreturned_.insert(thread.unreturned_call);
    }
    return filter_.submission.has_value() ? FindSubmission(*filter_.submission) : Status();
  }

  // The calls that the lists of the n-th ExecuteCommandLists had recorded.
  Status FindSubmission(uint64_t wanted) {
    Recordings<std::vector<uint64_t>> recorded;  // calls
    TraceCursor cursor(trace_);
    Record record;
    uint64_t submissions = 0;
    while (cursor.Next(&record)) {
      if (record.kind == RecordKind::kObjectEnd) recorded.End(record.object);
      const std::optional<Method> method = trace_.MethodOf(record);
      if (!method.has_value()) continue;
      if (record.kind == RecordKind::kResult) recorded.OnResult(record, RoleOf(*method));
      if (record.kind != RecordKind::kCall) continue;
      if (method == Method::ID3D12CommandQueue_ExecuteCommandLists) {
        if (++submissions == wanted) return TakeSubmission(record, recorded);
        continue;
      }
      if (!IsRecorded(*method)) continue;
      if (RoleOf(*method).role == Role::kListReset) recorded.Reset(record.object);
      recorded[record.object].push_back(record.number);
    }
    CAIRN_RETURN_IF_ERROR(cursor.status());
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("there is no submission {}; the trace has {}", wanted,
                              GroupedDigits(submissions)));
  }

  Status TakeSubmission(const Record& record, const Recordings<std::vector<uint64_t>>& recorded) {
    submission_.emplace();
    submission_->insert(record.number);
    DecodeOptions options;
    options.blobs = &trace_;
    arena_.Reset();
    DecodedCall call;
    const MethodInfo& method = Describe(Method::ID3D12CommandQueue_ExecuteCommandLists);
    if (Status status = DecodeArguments(method, record.body, options, &arena_, &call);
        !status.ok()) {
      return status.WithContext(fmt::format("call {}", record.number));
    }
    const auto* const lists = Load<const uint64_t*>(call.arguments[1]);
    for (uint64_t i = 0; lists != nullptr && i < call.counts[1]; ++i) {
      const std::vector<uint64_t>* const calls = recorded.Find(lists[i]);
      if (calls != nullptr) submission_->insert(calls->begin(), calls->end());
    }
    return {};
  }

  Status Seek(TraceCursor& cursor) {
    may_seek_back_ = false;
    if (options_.names) return {};
    if (filter_.from != 0) return cursor.SeekNumber(filter_.from);
    if (filter_.first_frame.has_value()) return cursor.SeekFrame(first_wanted_);
    if (!filter_.around.has_value() || *filter_.around <= window_) return {};
    may_seek_back_ = true;
    return cursor.SeekNumber(*filter_.around - window_);
  }

  // Explains an empty list: returns an error if the object or the thread is not in the trace. Reads
  // the whole trace, as an object may come behind the wanted frames.
  Status FindWhatWasAskedFor() {
    const bool by_object = filter_.object.has_value() || !filter_.object_name.empty();
    if (!by_object && !filter_.thread.has_value()) return {};
    TraceState state(trace_);
    bool has_object = false, has_thread = false;
    uint32_t last_thread = 0;
    const auto take_thread = [&](uint32_t thread) {
      has_thread = has_thread || filter_.thread == thread;
      last_thread = std::max(last_thread, thread);
    };
    for (const TraceThread& thread : trace_.threads()) take_thread(thread.index);
    TraceCursor cursor(trace_);
    Record record;
    while (cursor.Next(&record)) {
      take_thread(record.thread);
      if (has_object || record.object == kNoObject) continue;
      if (filter_.object.has_value()) {
        has_object = record.object == *filter_.object;
      } else if (by_object) {
        (void)state.Apply(record);  // damage is counted already
        const TracedObject* const object = state.Find(record.object);
        has_object = object != nullptr && object->name == filter_.object_name;
      }
    }
    CAIRN_RETURN_IF_ERROR(cursor.status());
    if (by_object && !has_object) {
      const std::string which = filter_.object.has_value()
                                    ? fmt::format("object {}", *filter_.object)
                                    : fmt::format("object named '{}'", filter_.object_name);
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("there is no {}; cairn objects lists those that there are", which));
    }
    if (filter_.thread.has_value() && !has_thread) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("there is no thread {}; the last is {}", *filter_.thread, last_thread));
    }
    return {};
  }

  // Returns why the call that others are wanted around was not listed.
  Status NotAround() {
    const uint64_t wanted = *filter_.around;
    TraceCursor cursor(trace_);
    CAIRN_RETURN_IF_ERROR(cursor.SeekNumber(wanted));
    Record record;
    const bool found = cursor.Next(&record);
    CAIRN_RETURN_IF_ERROR(cursor.status());
    std::string text = fmt::format("there is no call or other record {}", wanted);
    if (found && record.number == wanted && record.kind != RecordKind::kCall) {
      text = fmt::format("the other options leave record {} out, which is of frame {}", wanted,
                         first_frame_ + cursor.frame());
    } else if (found && record.number == wanted) {
      text = fmt::format(
          "the other options leave call {} out, which is of frame {} and thread {}: {}; say "
          "--around {} without them",
          wanted, first_frame_ + cursor.frame(), record.thread, trace_.MethodName(record), wanted);
    } else if (found) {
      text += fmt::format("; the next is {}", record.number);
    } else if (!trace_.spans().empty()) {
      text += fmt::format("; the last record is {}", trace_.spans().back().last_number);
    }
    return Status(StatusCode::kInvalidArgument, std::move(text));
  }

  bool IsCheaplyWanted(const Record& record, std::optional<Method> method, uint64_t frame) const {
    if (record.number < filter_.from) return false;
    if (filter_.first_frame.has_value() && frame < *filter_.first_frame) return false;
    if (filter_.thread.has_value() && record.thread != *filter_.thread) return false;
    if (submission_.has_value() && !submission_->contains(record.number)) return false;
    if (methods_.empty()) return true;
    return method.has_value() ? methods_[static_cast<size_t>(*method)]
                              : ContainsIgnoringCase(trace_.MethodName(record), filter_.function);
  }

  bool IsWantedObject(uint64_t number) const {
    if (filter_.object.has_value()) return number == *filter_.object;
    const TracedObject* const object = state_.Find(number);
    return object != nullptr && object->name == filter_.object_name;
  }

  // Returns true if a record that is no call is listed: a list limited by frames or an object has
  // writes, and without an object all records that show the position.
  bool IsShown(const Record& record, uint64_t frame) const {
    if (filter_.around == record.number) return true;
    if (record.number < filter_.from) return false;
    if (filter_.first_frame.has_value() && frame < *filter_.first_frame) return false;
    if (!methods_.empty() || filter_.thread.has_value() || filter_.around.has_value() ||
        submission_.has_value()) {
      return false;
    }
    const bool by_object = filter_.object.has_value() || !filter_.object_name.empty();
    const bool is_opened = record.kind == RecordKind::kObject && ImportOf(record).has_value();
    const bool has_line = HasLine(record.kind) || is_opened;
    if (!has_line || !by_object) return has_line;
    const bool is_write = is_opened || record.kind == RecordKind::kMemory ||
                          record.kind == RecordKind::kContents ||
                          record.kind == RecordKind::kStructure;
    return is_write && IsWantedObject(record.object);
  }

  // ---- Records ----

  void Take(const Record& record, uint64_t frame, bool is_behind) {
    if (record.kind == RecordKind::kCall) {
      if (!is_behind) TakeCall(record, frame);
      return;
    }
    if (!is_behind && IsShown(record, frame)) TakeOther(record, frame);
    if (record.kind == RecordKind::kResult) TakeResult(record);
  }

  void TakeCall(const Record& record, uint64_t frame) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!IsCheaplyWanted(record, method, frame)) return;
    DecodedCall& call = decoded_;
    Status status(StatusCode::kUnsupported, "a method that this version of Cairn does not know");
    collector_.objects.clear();
    arena_.Reset();
    const bool by_object = filter_.object.has_value() || !filter_.object_name.empty();
    if (method.has_value() && (budget_ != 0 || by_object)) {
      DecodeOptions options;
      options.blobs = &trace_;
      options.visitor = &collector_;
      status = DecodeArguments(Describe(*method), record.body, options, &arena_, &call);
    }
    if (by_object) {
      collector_.objects.push_back(record.object);
      if (std::none_of(collector_.objects.begin(), collector_.objects.end(),
                       [this](uint64_t number) { return IsWantedObject(number); })) {
        return;
      }
    }
    if (budget_ == 0) {
      ++listed_.left_out;
      status = Status(StatusCode::kUnsupported, "truncated");
    } else if (!status.ok() && method.has_value()) {
      NoteDamage(fmt::format("call {}: {}", record.number, status.message()));
    }
    Line line;
    line.call = record.number;
    line.is_around = filter_.around == record.number;
    line.gpu = gpu_.Find(record.number);
    line.complete = !method.has_value() || !HasResults(Describe(*method));
    line.never_returned = unreturned_.contains(record.number);
    call_lines_.AddCall(record, frame, method, call, status, LineOptionsNow(), &line);
    Add(std::move(line));
  }

  void TakeResult(const Record& record) {
    std::span<const std::byte> rest = record.body;
    const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
    if (!body.ok()) return NoteDamage(fmt::format("record {}: it is too short", record.number));
    const auto found = incomplete_.find(body->call);
    if (found == incomplete_.end()) return;
    Line* const line = found->second;
    if (budget_ == 0) return Complete(line);
    const Status status = call_lines_.AddResult(record, rest, LineOptionsNow(), line);
    if (!status.ok()) {
      NoteDamage(fmt::format("result of call {}: {}", body->call, status.message()));
    }
    Complete(line);
  }

  void TakeOther(const Record& record, uint64_t frame) {
    Line line;
    line.complete = true;
    line.is_around = filter_.around == record.number;
    LineOptions options = LineOptionsNow();
    if (budget_ == 0) ++listed_.left_out, options.whole = false;
    const Status status = call_lines_.AddOther(record, frame, options, &line);
    if (!status.ok()) {
      NoteDamage(fmt::format("record {}: {}", record.number, status.message()));
    }
    Add(std::move(line));
  }

  LineOptions LineOptionsNow() const { return {.json = options_.json, .whole = options_.whole}; }

  // ---- Lines ----

  void Add(Line line) {
    if (filter_.around.has_value()) {
      if (line.is_around) {
        if (lines_.size() < filter_.context && may_seek_back_) {
          is_short_ = true;
          return;
        }
        found_around_ = true;
        wanted_after_ = filter_.context;
      } else if (found_around_) {
        if (wanted_after_ == 0) return;
        --wanted_after_;
      }
    }
    ++added_;
    line.pending_bytes = line.text.size();
    pending_bytes_ += line.pending_bytes;
    lines_.push_back(std::move(line));
    if (!lines_.back().complete) incomplete_.emplace(lines_.back().call, &lines_.back());
    if (!filter_.around.has_value() || found_around_) return Flush(false);
    // Only the last ones before the call are wanted.
    while (lines_.size() > filter_.context) {
      DropFront();
    }
  }

  void DropFront() {
    pending_bytes_ -= lines_.front().pending_bytes;
    incomplete_.erase(lines_.front().call);
    lines_.pop_front();
  }

  void Complete(Line* line) {
    line->complete = true;
    line->never_returned = false;
    incomplete_.erase(line->call);
    if (!filter_.around.has_value() || found_around_) Flush(false);
  }

  void Flush(bool all) {
    while (!lines_.empty() && (all || lines_.front().complete || lines_.size() > kMostPending ||
                               pending_bytes_ > kMostPendingBytes)) {
      Print(&lines_.front());
      DropFront();
    }
    if (output_.size() < kOutputBytes && !all) return;
    if (going_on_ && !output_.empty()) going_on_ = print_(output_);
    budget_ -= std::min<uint64_t>(budget_, output_.size());
    if (budget_ == 0) call_lines_.set_names(kNumbersOnly);
    output_.clear();
  }

  void Print(Line* printed) {
    Line& line = *printed;
    if (line.call != 0) ++listed_.calls;
    if (options_.json) {
      PrintJson(line);
    } else {
      if (filter_.around.has_value()) output_ += line.is_around ? "> " : "  ";
      if (!gpu_.empty()) {
        output_ += line.gpu.has_value() ? StateMark(*line.gpu) : "   ";
        output_ += ' ';
      }
      if (line.never_returned) line.text += "  -- never returned";
      const bool is_hot = line.gpu == WorkState::kInFlight && options_.colour;
      output_ += is_hot ? "\x1b[1;31m" + line.text + "\x1b[0m" : line.text;
    }
    output_ += '\n';
  }

  void PrintJson(const Line& line) {
    JsonWriter json(&output_, JsonWriter::kOneLine);
    json.BeginObject();
    json.Json(line.text);
    if (line.call != 0) {
      json.JsonKey("result", line.result.empty() ? "null" : line.result);
      json.BoolKey("returned", !line.never_returned);
    }
    if (!line.problem.empty()) json.StringKey("problem", VisibleText(line.problem));
    if (line.gpu.has_value()) {
      json.StringKey("state", WorkStateWord(*line.gpu));
      json.StringKey("gpu", OldStateWord(*line.gpu));
    }
    if (line.is_around) json.BoolKey("around", true);
    json.EndObject();
  }

  // Returns the word of earlier versions, for programs that still read it: docs/formats/calls.schema.json.
  static std::string_view OldStateWord(WorkState state) {
    switch (state) {
      case WorkState::kCompleted: return "done";
      case WorkState::kInFlight: return "in_flight";
      case WorkState::kNotStarted: return "not_started";
      case WorkState::kUnknown: break;
    }
    return "unknown";
  }

  void Finish(bool reached_end, const std::vector<Loss>& losses) {
    if (filter_.around.has_value() && !found_around_) {  // then nothing is around it
      incomplete_.clear();
      lines_.clear();
      pending_bytes_ = 0;
    }
    // A call without a result at the trace's end never returned; before the end this is unknown.
    for (const auto& [call, line] : incomplete_) {
      line->never_returned = line->never_returned || reached_end;
    }
    Flush(true);
    for (const Loss& loss : losses) NoteDamage(loss.reason);
  }

  void NoteDamage(std::string what) {
    if (listed_.damaged++ == 0) listed_.first_damage = std::move(what);
  }
  void Note(uint64_t record, const Status& status) {
    if (!status.ok()) NoteDamage(fmt::format("record {}: {}", record, status.message()));
  }

  TraceReader& trace_;
  const CallListingOptions& options_;
  const CallFilter& filter_;
  const GpuStates& gpu_;
  const std::function<bool(std::string_view)>& print_;
  TraceState state_;
  CallLines call_lines_;
  uint64_t window_;             // numbers before the call that others are wanted around
  bool may_seek_back_ = false;  // the window left out what stands before
  bool is_short_ = false;       // it held too few of the calls that are wanted
  const uint64_t first_frame_;  // as the program counts; cursors count from 0
  Arena arena_{kMostDecodedBytes};
  DecodedCall decoded_;
  ObjectCollector collector_;
  std::vector<bool> methods_;
  std::optional<std::unordered_set<uint64_t>> submission_;
  std::unordered_set<uint64_t> unreturned_;
  std::deque<Line> lines_;
  size_t pending_bytes_ = 0;                        // of the text in lines_
  std::unordered_map<uint64_t, Line*> incomplete_;  // of lines_, by their call
  uint64_t first_wanted_ = 0;                       // the filter's first frame as cursors count
  uint64_t records_behind_ = 0;
  uint64_t added_ = 0;  // lines
  bool found_around_ = false;
  uint64_t wanted_after_ = ~uint64_t{0};  // calls behind that one
  bool going_on_ = true;
  std::string output_;
  uint64_t budget_;  // bytes of output with arguments
  ListedCalls listed_;
};

}  // namespace

bool HasLine(RecordKind kind) {
  switch (kind) {
    case RecordKind::kCall:
    case RecordKind::kMemory:
    case RecordKind::kContents:
    case RecordKind::kStructure:
    case RecordKind::kFrame:
    case RecordKind::kNote:
    case RecordKind::kStart:
    case RecordKind::kStop: return true;
    default: return false;
  }
}

// A list that was executed several times has several states; the one that matters is that of the
// execution that did not finish.
GpuStates::GpuStates(const Snapshot& snapshot, const Analysis& analysis) {
  const auto rank = [](WorkState state) { return state == WorkState::kInFlight ? 1 : 0; };
  for (const Scope& scope : analysis.scopes) {
    const uint64_t call = snapshot.events[scope.event].call;
    if (call == 0) continue;
    const auto [place, is_new] = states_.emplace(call, scope.state);
    if (!is_new && rank(scope.state) > rank(place->second)) place->second = scope.state;
  }
}

std::optional<WorkState> GpuStates::Find(uint64_t call) const {
  const auto found = states_.find(call);
  if (found == states_.end()) return std::nullopt;
  return found->second;
}

Result<ListedCalls> ListCalls(TraceReader& trace, const CallListingOptions& options,
                              const GpuStates& gpu,
                              const std::function<bool(std::string_view)>& print) {
  return Lister(trace, options, gpu, print).Run();
}

}  // namespace cairn::cli
