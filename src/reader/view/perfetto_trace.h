// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace that the Perfetto UI opens: packets of perfetto.protos.Trace with track events
// (perfetto.dev/docs/reference/synthetic-track-event). The same calls give the same bytes.
#ifndef CAIRN_READER_VIEW_PERFETTO_TRACE_H_
#define CAIRN_READER_VIEW_PERFETTO_TRACE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cairn {

// An argument shown beside an event.
struct PerfettoArgument {
  std::string_view name;  // of ours: plain ASCII
  std::variant<uint64_t, std::string> value;
};

struct PerfettoEvent {
  uint64_t time_ns = 0;
  uint64_t track = 0;
  std::string_view category;  // of ours
  std::string name;
  std::vector<uint64_t> flows;  // events with one of these in common are joined by an arrow
  std::vector<PerfettoArgument> arguments;
};

// Texts may be any bytes; invalid UTF-8, and characters that act on a terminal, are written out.
class PerfettoTrace {
 public:
  // `print` gets pieces of the file, and may say false: then nothing more is written.
  explicit PerfettoTrace(std::function<bool(std::string_view)> print);

  // Tracks have numbers, which events name. They are shown in the order in which they were added.
  uint64_t AddProcess(uint64_t process_id, std::string_view name);
  uint64_t AddThread(uint64_t process_id, uint64_t thread_id, std::string_view name);
  uint64_t AddTrack(std::string_view name, uint64_t parent);

  // Add the begin and the end of a slice. Events of one track at one time keep the order of these
  // calls. A slice without an End is shown as one that did not end; slices of a track nest.
  void Begin(const PerfettoEvent& event);
  void End(uint64_t time_ns, uint64_t track);
  void Instant(const PerfettoEvent& event);

  // False once `print` said so.
  bool Finish();

 private:
  uint64_t AddDescriptor(std::string_view body, uint64_t parent, std::string_view name);
  void AddEvent(uint64_t type, const PerfettoEvent& event);
  // Returns the number of a text in one of the trace's tables. `told`: receives, once, the data
  // that defines the text for the reader.
  uint64_t Intern(int table, std::string_view text, std::string* told);
  void AddPacket(std::string_view fields);
  void Flush(size_t at_least);

  std::function<bool(std::string_view)> print_;
  std::string out_;
  std::map<std::string, uint64_t, std::less<>> interned_[4];
  uint64_t track_count_ = 0;
  bool first_ = true;
  bool going_on_ = true;
};

}  // namespace cairn

#endif  // CAIRN_READER_VIEW_PERFETTO_TRACE_H_
