// SPDX-License-Identifier: Apache-2.0
//
// The only file of the samples that sees CLI11, which takes seconds to compile.
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>

namespace sample {

CommandLine::CommandLine(const char* purpose) : app_(std::make_unique<CLI::App>(purpose)) {}

CommandLine::~CommandLine() = default;

void CommandLine::Number(const char* name, double* value, double least, double most,
                         const char* help) {
  app_->add_option(name, *value, help)->check(CLI::Range(least, most))->capture_default_str();
}

void CommandLine::Number(const char* name, uint32_t* value, uint32_t least, uint32_t most,
                         const char* help) {
  app_->add_option(name, *value, help)->check(CLI::Range(least, most))->capture_default_str();
}

void CommandLine::Number(const char* name, uint64_t* value, const char* help) {
  app_->add_option(name, *value, help)->capture_default_str();
}

void CommandLine::Text(const char* name, std::string* value, const char* help) {
  app_->add_option(name, *value, help)->capture_default_str();
}

void CommandLine::Flag(const char* name, bool* value, const char* help) {
  app_->add_flag(name, *value, help);
}

void CommandLine::Mode(CairnMode* mode) {
  static const std::map<std::string, CairnMode> kModes = {
      {"top", CAIRN_MODE_TOP}, {"pass", CAIRN_MODE_PASS}, {"full", CAIRN_MODE_FULL}};
  app_->add_option("--mode", *mode, "how much the GPU writes: top, pass or full")
      ->transform(CLI::CheckedTransformer(kModes, CLI::ignore_case))
      ->default_str("full");
}

void CommandLine::Read(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app_->exit(error));
  }
}

}  // namespace sample
