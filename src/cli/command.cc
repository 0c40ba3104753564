// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/description.h"
#include "cli/text_columns.h"
#include "cli/verb.h"
#include "reader/replay/device.h"

namespace cairn::cli {
namespace {

// The examples and notes of an app, beside its options; HelpText() makes the text.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}
  const std::string& usage() const { return usage_; }

  // For shells.
  bool takes_program = false;
  bool offers_dumps = false;

 private:
  std::string usage_;
};

template <typename T>
CommandOption Add(CLI::App* app, const std::string& names, T* value, const std::string& type,
                  const std::string& help) {
  return CommandOption(app->add_option(names, *value, help)->type_name(type));
}

// Each app that is described or changed here has had its SetHelp.
HelpFormatter& HelpOf(const CLI::App& app) {
  return dynamic_cast<HelpFormatter&>(*app.get_formatter());
}

VerbDescription DescribeVerb(const CLI::App& app) {
  const HelpFormatter& help = HelpOf(app);
  VerbDescription verb = Describe(app, help.usage());
  verb.takes_program = help.takes_program;
  verb.offers_dumps = help.offers_dumps;
  return verb;
}

}  // namespace

std::vector<VerbDescription> DescribeVerbs(const CLI::App& root) {
  std::vector<VerbDescription> verbs = {DescribeVerb(root)};
  for (const CLI::App* const verb : root.get_subcommands(nullptr)) {
    if (verb->get_group().empty()) continue;
    verbs.push_back(DescribeVerb(*verb));
    verbs.back().name = verb->get_name();
    verbs.back().group = verb->get_group();
  }
  return verbs;
}

void SetHelp(CLI::App& app, const std::string& usage, const std::string& examples) {
  app.formatter(std::make_shared<HelpFormatter>(usage));
  app.footer(examples);
  app.get_help_ptr()->description("Print this help");
}

bool PrintHelp(const CLI::App& root, const CLI::App& app) {
  VerbDescription verb = DescribeVerb(app);
  if (&app != &root) verb.name = app.get_name();
  return PrintOutput(verb.name, HelpText(verb, DescribeVerbs(root), TextColumns()));
}

void SetTakesProgram(CLI::App& verb) {
  HelpOf(verb).takes_program = true;
}

CommandOption CommandOption::WithDefault() {
  option_->capture_default_str();
  return *this;
}

CommandOption CommandOption::From(uint64_t least, uint64_t most) {
  option_->check(CLI::Range(least, most).description(""));
  option_->description(fmt::format("{}; from {} to {}", option_->get_description(), least, most));
  return *this;
}

CommandOption CommandOption::OneOf(std::vector<std::string> values) {
  option_->check(CLI::IsMember(std::move(values)));
  return *this;
}

CommandOption CommandOption::Without(CommandOption other) {
  option_->excludes(other.option_);
  return *this;
}

CommandOption CommandOption::OnlyWith(CommandOption other) {
  option_->needs(other.option_);
  return *this;
}

CommandOption CommandOption::Hidden() {
  option_->group("");
  return *this;
}

Command::Command(CLI::App& root, const std::string& verb, const std::string& purpose,
                 const std::string& usage, const std::string& examples)
    : app_(root.add_subcommand(verb, purpose)) {
  SetHelp(*app_, usage, examples);
}

CommandOption Command::Option(const std::string& names, std::string* value, const std::string& type,
                              const std::string& help) {
  return Add(app_, names, value, type, help);
}

CommandOption Command::Option(const std::string& names, int* value, const std::string& type,
                              const std::string& help) {
  return Add(app_, names, value, type, help);
}

CommandOption Command::Option(const std::string& names, uint32_t* value, const std::string& type,
                              const std::string& help) {
  return Add(app_, names, value, type, help);
}

CommandOption Command::Option(const std::string& names, uint64_t* value, const std::string& type,
                              const std::string& help) {
  return Add(app_, names, value, type, help);
}

CommandOption Command::Option(const std::string& names, std::vector<std::string>* values,
                              const std::string& type, const std::string& help) {
  CLI::Option* const option = app_->add_option(names, *values, help)->type_name(type);
  if (names.starts_with('-')) option->allow_extra_args(false);
  return CommandOption(option);
}

CommandOption Command::Flag(const std::string& names, bool* value, const std::string& help) {
  return CommandOption(app_->add_flag(names, *value, help));
}

CommandOption Command::OptionOfMaybe(const std::string& names, std::string* value, bool* given,
                                     const std::string& type, const std::string& help) {
  const auto take = [value, given](const std::string& word) {
    *value = word;
    *given = true;
  };
  CLI::Option* const option = app_->add_option_function<std::string>(names, take, help);
  return CommandOption(option->type_name(type)->expected(0, 1));
}

CommandOption Command::FlagWithWord(const std::string& name, std::string* value,
                                    const std::string& without, const std::string& help) {
  return CommandOption(app_->add_flag(name + "{" + without + "}", *value, help));
}

CommandOption Command::Json(bool* json) {
  return Flag("--json", json, "Print JSON");
}

void Command::TraceFile(std::string* path) {
  Option("file", path, "FILE", "A .cairn file with a trace (cairn run --capture)");
  OffersDumps();
}

void Command::DumpFile(std::string* path) {
  Option("file", path, "FILE", "The .cairn file");
  OffersDumps();
}

void Command::OffersDumps() {
  HelpOf(*app_).offers_dumps = true;
}

CommandOption Command::Frames(std::string* frames, const std::string& help) {
  return Option("--frames,--frame", frames, "A[-B]",
                help + "; counted from the program's first frame, 0");
}

CommandOption Command::Call(std::string* call, const std::string& help) {
  return Option("--call", call, "CALL", help);
}

void Command::Library(std::string* library) {
  Option("--library", library, "FILE",
         std::string("The Direct3D 12 library to play with; without it ") + kDefaultD3D12Library);
}

void Command::Adapter(std::string* adapter) {
  Option(
      "--adapter", adapter, "N|NAME",
      "The adapter to play on: its number, from 0, or a part of its name; without it the one that "
      "is most like the recorded one");
}

void Command::PlayTimeout(std::string* timeout) {
  Option(
      "--timeout", timeout, "SECONDS",
      "GPU work that the playback waits for longer than this is a hang; 0: no limit. Without it "
      "20, or three times as long as the whole frame took when it was recorded, if that is more");
}

void Command::NoPlayLimit(bool* no_limit) {
  Flag(
      "--no-limit", no_limit,
      "Play the whole trace, even if it asks for much more work than others of its size; a hostile "
      "trace can ask for hours");
}

void Command::Hide() {
  app_->group("");
}

}  // namespace cairn::cli
