// SPDX-License-Identifier: Apache-2.0
//
// A program that ends badly on request: misbehave MODE [ARGUMENT]. Every mode first records one
// frame and lets the simulated GPU stand still inside the dispatch "Blur".
#include "programs/misbehave.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace {

void WaitForFile(const char* path) {
  while (!std::filesystem::exists(path)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Returns only values that the mode promises.
int Misbehave(const std::string& mode, const char* argument, const char* self,
              SimulatedDevice& device, SimulatedCommandList& native) {
  if (mode == "exit") {
    device.Finish(native);
    Must(cairnDestroyContext(device.context()), "cairnDestroyContext");
    return argument == nullptr ? 0 : std::atoi(argument);
  }
  if (mode == "kill" || mode == "start-watcher" || mode == "start-watcher-late") EndSuddenly();
  if (mode == "abort") std::abort();
  if (mode == "device-lost") {
    Must(cairnReportDeviceLost(device.context(), -4, "vkQueueSubmit"), "cairnReportDeviceLost");
    return 3;
  }
  if (mode == "hang") WaitForEver();
  if (mode == "hang-then-finish" || mode == "hang-then-kill") {
    WaitForFile(argument);
    if (mode == "hang-then-kill") EndSuddenly();
    device.Finish(native);
    cairnRefresh(device.context());
    return 0;
  }
  if (mode == "idle") {
    device.Finish(native);
    cairnRefresh(device.context());
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(argument)));
    return 0;
  }
  if (mode == "two") {
    if (!AnotherIsKilled(self)) return 72;
    EndSuddenly();
  }
  return MisbehaveAsHere(mode, argument, device, native).value_or(73);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : nullptr;
  CairnWatcherDesc watcher{};
  watcher.struct_size = sizeof(watcher);
  watcher.output_path = argument;
  watcher.cairn_path = argc > 3 ? argv[3] : nullptr;
  watcher.on_report = argc > 4 ? argv[4] : nullptr;
  if (mode == "start-watcher") Must(cairnStartWatcher(&watcher), "cairnStartWatcher");
  SimulatedDevice device;
  SimulatedCommandList native;
  RecordFrame(device, native);
  if (mode == "start-watcher-late") Must(cairnStartWatcher(&watcher), "cairnStartWatcher");
  device.Execute(native, kWritesIntoBlur);
  cairnRefresh(device.context());
  // Tests wait for this line before they kill the program.
  std::printf("ready %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  return Misbehave(mode, argument, argv[0], device, native);
}
