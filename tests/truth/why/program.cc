// SPDX-License-Identifier: Apache-2.0
//
// why_program: fails in one way, chosen by name, whose cause is known. It knows nothing of Cairn. README.md.
#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "truth/why/faults.h"

namespace cairn::truth::why {
namespace {

struct Options {
  std::string fault = "healthy";
  bool list = false;
  bool measure = false;
  double seconds = 12;
  double limit_s = 60;
  std::string size;
};

bool ReadSize(const std::string& text, Size* size) {
  int end = 0;
  const int count = std::sscanf(text.c_str(), "%" SCNu32 ",%" SCNu32 ",%" SCNu32 "%n",
                                &size->groups, &size->trips, &size->crowd, &end);
  return count == 3 && text[static_cast<size_t>(end)] == '\0' && size->groups != 0 &&
         size->crowd != 0;
}

void ReadOptions(int argc, char** argv, Options* options) {
  CLI::App app("Fails on a Vulkan device in one way, whose cause is known.");
  app.add_option("FAULT", options->fault, "Which one")->capture_default_str();
  app.add_flag("--list", options->list,
               "The faults, one a line: name, group, devices (any, gpu, cpu), the experiment of "
               "cairn why that helps (none: no experiment; -: it does not fail), others that help, "
               "the line of the loop, and what it is");
  app.add_flag("--measure", options->measure,
               "Print the device's kind, and what --size takes, for --seconds on this device");
  app.add_option("--seconds", options->seconds,
                 "How long work takes that looks like a hang, if --size is not given")
      ->check(CLI::Range(0.5, 30.0))
      ->capture_default_str();
  app.add_option(
      "--size", options->size,
      "Groups of a loop, its trips, and groups without loops: three numbers with commas");
  app.add_option("--limit", options->limit_s, "Seconds after which it gives up")
      ->capture_default_str();
  app.footer(
      "\nExamples:\n"
      "  cairn why --hang-timeout 2 --trips 256 -- why_program --size $(why_program --measure | "
      "cut -d' ' -f2) list\n"
      "\nExit code: 0 when all work finished, 1 when the device was lost, 2 for wrong arguments or "
      "when it\n"
      "could not start, 3 when the limit was reached, 77 when the device cannot show this fault.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
}

void List() {
  constexpr const char* kShows[] = {"any", "gpu", "cpu"};
  const auto or_none = [](const char* text) { return *text == '\0' ? "-" : text; };
  for (const Group& group : Groups()) {
    for (const Fault& fault : group.faults) {
      std::printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", fault.name, group.name,
                  kShows[static_cast<int>(fault.shows)], or_none(fault.experiment),
                  or_none(fault.also), CulpritLine(fault.loop).c_str(), fault.what);
    }
  }
}

int Run(const Options& options) {
  const Fault* fault = FindFault(options.fault);
  if (fault == nullptr) Fail("no fault \"" + options.fault + "\"; --list names them");
  Machine machine;
  machine.SetLimit(options.limit_s);
  if (options.size.empty()) {
    machine.Measure(options.seconds);
  } else {
    Size size;
    if (!ReadSize(options.size, &size)) Fail("--size " + options.size + ": not three numbers");
    machine.SetSize(size);
  }
  if (options.measure) {
    const Size& size = machine.size();
    std::printf("%s %u,%u,%u\n", machine.on_cpu() ? "cpu" : "gpu", size.groups, size.trips,
                size.crowd);
    return 0;
  }
  if ((fault->shows == Shows::kOnGpu && machine.on_cpu()) ||
      (fault->shows == Shows::kOnCpu && !machine.on_cpu())) {
    CannotShow("this kind of device does not show it");
  }
  fault->run(machine, *fault);
  return 0;
}

}  // namespace
}  // namespace cairn::truth::why

int main(int argc, char** argv) {
  using namespace cairn::truth::why;
  Options options;
  ReadOptions(argc, argv, &options);
  if (options.list) {
    List();
    return 0;
  }
  return Run(options);
}
