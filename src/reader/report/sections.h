// SPDX-License-Identifier: Apache-2.0
//
// The sections of the text report that list tables: EventIDs that drivers reported, submissions,
// markers of queues, last calls, fences, objects, user data. Each prints nothing where there is nothing; what a
// short report leaves out it counts.
#ifndef CAIRN_READER_REPORT_SECTIONS_H_
#define CAIRN_READER_REPORT_SECTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/report/line_sink.h"
#include "reader/report/text.h"

namespace cairn {

class SectionPrinter {
 public:
  // Everything is referred to and must live as long.
  SectionPrinter(const Snapshot& snapshot, const Findings& findings, const TextOptions& options);

  // Prints the reported EventIDs. May be called again, for a second sink.
  void PrintReportedEventIds(LineSink& sink);
  void PrintSubmissions(LineSink& sink);
  void PrintQueueMarkers(LineSink& sink);
  void PrintLastCalls(LineSink& sink);
  void PrintFences(LineSink& sink);
  void PrintObjects(LineSink& sink);
  void PrintUserData(LineSink& sink);

 private:
  struct Handle {
    uint64_t native_handle;
    uint32_t object;
  };

  bool IsShown(uint32_t device) const {
    return findings_.device == kNone || device == findings_.device;
  }
  void BeginSection(LineSink& sink, std::string_view heading);
  // Prints the line that counts the omitted entries.
  void PrintRest(LineSink& sink, size_t count, std::string_view what);
  void FindHandles();
  void FindOpenQueueMarkers();
  uint32_t FindObject(uint64_t native_handle) const;
  void AppendHandle(uint64_t native_handle);
  void FindTrees();
  void AppendScopeOf(uint32_t scope);
  void PrintReportedEventId(LineSink& sink, size_t index);
  void PrintEmptySubmissions(LineSink& sink);
  void PrintSubmission(LineSink& sink, size_t first, size_t end);
  void PrintMarkersOfQueue(LineSink& sink, size_t first, size_t end);
  bool HasUnreturned(const Thread& thread) const;
  void AppendCall(const Thread& thread, const Call& call);
  void PrintThread(LineSink& sink, const Thread& thread);
  void PrintFence(LineSink& sink, const Object& fence);
  void PrintObjectCounts(LineSink& sink);
  void PrintObject(LineSink& sink, const Object& object);

  const Snapshot& snapshot_;
  const Findings& findings_;
  const Analysis& analysis_;  // of these
  bool all_;
  bool program_ended_ = false;
  std::vector<Handle> handles_;            // by native handle, then as FindObject prefers
  std::vector<uint32_t> tree_executions_;  // by their first scope; made when first needed
  std::vector<bool> queue_marker_open_;    // an event without an end
  std::vector<uint32_t> thread_order_;     // with unreturned calls first
  std::string text_;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_SECTIONS_H_
