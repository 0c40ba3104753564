// SPDX-License-Identifier: Apache-2.0
//
// A sample's options.
//
//   sample::CommandLine line("Submits a dispatch that outlasts the watchdog, and ends.");
//   line.Number("--seconds", &seconds, 0.1, 600, "how long the dispatch takes, about");
//   line.Read(argc, argv);
#ifndef CAIRN_SAMPLES_COMMAND_LINE_H_
#define CAIRN_SAMPLES_COMMAND_LINE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "cairn/breadcrumbs.h"

namespace CLI {
class App;
}

namespace sample {

// Parses options. An option that is not given keeps its value, which --help shows.
class CommandLine {
 public:
  explicit CommandLine(const char* purpose);
  ~CommandLine();

  void Number(const char* name, double* value, double least, double most, const char* help);
  void Number(const char* name, uint32_t* value, uint32_t least, uint32_t most, const char* help);
  void Number(const char* name, uint64_t* value, const char* help);
  void Text(const char* name, std::string* value, const char* help);
  void Flag(const char* name, bool* value, const char* help);
  // --mode: how much the GPU writes.
  void Mode(CairnMode* mode);

  // Ends the program with what is wrong, or with the help.
  void Read(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_COMMAND_LINE_H_
