// SPDX-License-Identifier: Apache-2.0
#include "truth/why/command_line.h"

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cairn::truth::why {
namespace {

const char* g_program = "why_program";

}  // namespace

void End(int code, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", g_program, why.c_str());
  std::fflush(nullptr);
  std::_Exit(code);
}

void CannotShow(const char* why) {
  End(77, why);
}

Size ReadSize(const std::string& text) {
  Size size;
  int end = 0;
  const int count = std::sscanf(text.c_str(), "%" SCNu32 ",%" SCNu32 ",%" SCNu32 "%n", &size.groups,
                                &size.trips, &size.crowd, &end);
  if (count != 3 || text[static_cast<size_t>(end)] != '\0' || size.groups == 0 || size.crowd == 0)
    End(2, "--size " + text + ": not three numbers");
  return size;
}

Options ReadOptions(int argc, char** argv, const char* program, const char* device) {
  g_program = program;
  Options options;
  CLI::App app(std::string("Fails on a device of ") + device +
               " in one way, whose cause is known.");
  app.add_option("FAULT", options.fault, "Which one")->capture_default_str();
  app.add_flag(
      "--list", options.list,
      "The faults, one a line: name, group, devices (any, gpu, cpu; scripted: also the driver of "
      "tests/icd), the experiment of "
      "cairn why that helps (none: no experiment; -: it does not fail), others that help, "
      "where the loop is, and what it is");
  app.add_flag("--measure", options.measure,
               "Print the device's kind, and what --size takes, for --seconds on this device");
  app.add_option("--seconds", options.seconds,
                 "How long work takes that looks like a hang, if --size is not given")
      ->check(CLI::Range(0.5, 30.0))
      ->capture_default_str();
  app.add_option(
      "--size", options.size,
      "Groups of a loop, its trips, and groups without loops: three numbers with commas");
  app.add_option("--scripted", options.scripted, "The library of tests/icd, which runs this");
  app.add_option("--limit", options.limit_s, "Seconds after which it gives up")
      ->capture_default_str();
  app.footer(std::string("\nExamples:\n"
                         "  cairn why --hang-timeout 2 --trips 256 -- ") +
             program + " --size $(" + program +
             " --measure | cut -d' ' -f2) list\n"
             "\nExit code: 0 when all work finished, 1 when the device was lost, 2 for wrong "
             "arguments or when it\n"
             "could not start, 3 when the limit was reached, 77 when the device cannot show this "
             "fault.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return options;
}

}  // namespace cairn::truth::why
