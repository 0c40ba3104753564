// SPDX-License-Identifier: Apache-2.0
//
// A GPU that stops where it is told to, and says no more:
//
//   marker_table MODE LISTS END
//
// MODE of the breadcrumbs: top or full. LISTS: each a submission, separated by '/': T and B write a raw marker at
// the top and the bottom of the pipe, each into the next slot; D is a draw, ( and ) are its begin and its end, b is a
// barrier, '.' work that nobody marks. Every write that is recorded before '!' arrives, and none behind it. END: "lost" if
// the program then says that its device was lost, "alive" if it ends.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string_view>
#include <vector>

#include "cairn/markers.h"

#include "programs/simulated_device.h"

namespace {

constexpr uint64_t kTopValue = 0xDEADCAFE;
constexpr uint64_t kBottomValue = 0xDEADBEEF;
constexpr uint32_t kSlots = 64;

CairnMode ModeOf(std::string_view word) {
  return word == "top" ? CAIRN_MODE_TOP : CAIRN_MODE_FULL;
}

class Recorder {
 public:
  explicit Recorder(SimulatedDevice& device) : device_(device) {}

  void RecordAndSubmit(std::string_view commands) {
    native_.emplace_back();
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.native = &native_.back();
    desc.queue = device_.queue();
    desc.name = "Main";
    CairnCommandList* list = nullptr;
    Must(cairnBeginCommandList(device_.context(), &desc, &list), "cairnBeginCommandList");
    for (const char command : commands) {
      if (command == 'T') Mark(CAIRN_TOP_OF_PIPE, kTopValue);
      if (command == 'B') Mark(CAIRN_BOTTOM_OF_PIPE, kBottomValue);
      if (command == 'D' || command == '(') Begin(list, CAIRN_MARKER_DRAW);
      if (command == 'D' || command == ')') Must(cairnEndMarker(list), "cairnEndMarker");
      if (command == 'b') {
        Begin(list, CAIRN_MARKER_RESOURCE_BARRIER);
        Must(cairnEndMarker(list), "cairnEndMarker");
      }
      if (command == '!') Stop();
    }
    Must(cairnEndCommandList(list), "cairnEndCommandList");
    Must(cairnNotifySubmit(device_.context(), device_.queue(), &list, 1), "cairnNotifySubmit");
    if (!stopped_) device_.Finish(native_.back());
  }

 private:
  void Mark(CairnPipe pipe, uint64_t value) {
    Must(cairnWriteMarker(device_.context(), &native_.back(), pipe, slot_++, value),
         "cairnWriteMarker");
  }
  static void Begin(CairnCommandList* list, CairnMarkerType type) {
    Must(cairnBeginMarker(list, type, nullptr, CAIRN_NAME_STATIC), "cairnBeginMarker");
  }
  void Stop() {
    device_.Finish(native_.back());
    stopped_ = true;
  }

  SimulatedDevice& device_;
  bool stopped_ = false;
  uint32_t slot_ = 0;
  std::deque<SimulatedCommandList> native_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  SimulatedDevice device(ModeOf(argv[1]), kSlots);
  Recorder recorder(device);
  const std::string_view lists = argv[2];
  for (size_t begin = 0; begin <= lists.size();) {
    const size_t end = std::min(lists.find('/', begin), lists.size());
    recorder.RecordAndSubmit(lists.substr(begin, end - begin));
    begin = end + 1;
  }
  constexpr int32_t kDeviceHung = static_cast<int32_t>(0x887A0006);
  if (std::strcmp(argv[3], "lost") == 0) {
    Must(cairnReportDeviceLost(device.context(), kDeviceHung, "Present"), "cairnReportDeviceLost");
  } else {
    // Brings what the watcher sees up to date.
    char* text = nullptr;
    size_t size_bytes = 0;
    Must(cairnPrintStatus(device.context(), 0, &text, &size_bytes), "cairnPrintStatus");
    std::free(text);
  }
  std::_Exit(0);
}
