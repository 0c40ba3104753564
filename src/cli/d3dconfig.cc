// SPDX-License-Identifier: Apache-2.0
//
// The command `d3dconfig`: shows and changes what a person asks of every Direct3D 12 device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/description.h"
#include "cli/text_columns.h"
#include "format/d3dconfig/settings.h"
#include "os/file.h"
#include "os/new_file.h"
#include "os/terminal.h"
#include "os/this_process.h"
#include "os/user.h"

namespace cairn {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

constexpr char kAfterOptions[] =
    "Settings of device:\n"
    "  force-driver-retail-annotations=on|off\n"
    "      on: every Direct3D 12 device created from now on passes PIX events and object names to "
    "its\n"
    "      driver (annotation mode DRIVER_RETAIL), whatever the program asks for. off: as the "
    "program\n"
    "      asks; this is the default. Devices that exist keep what they were created with.\n"
    "      true and false mean on and off.\n"
    "\n"
    "For whom: an administrator (root) sets it for every device of the machine, anybody else for "
    "the\n"
    "programs that they start themselves; --system and --user say it. It is in effect if it is on "
    "for\n"
    "the machine or for the user. Several settings are changed together or, if one is wrong, not "
    "at "
    "all.\n"
    "\n"
    "Examples:\n"
    "  d3dconfig device                                          show what is in effect, and where "
    "from\n"
    "  d3dconfig device force-driver-retail-annotations=on       for your programs\n"
    "  d3dconfig device force-driver-retail-annotations=off\n"
    "  sudo d3dconfig device force-driver-retail-annotations=on  for everybody's";

constexpr char kUsage[] = "d3dconfig device [--system | --user] [SETTING=VALUE...]";

void PrintError(const std::string& message) {
  const std::string line = fmt::format("d3dconfig: {}\n", VisibleText(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

int UsageError(const std::string& message) {
  PrintError(message);
  return kExitUsage;
}

int PrintOutput(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || OutputHasNoReader()) return 0;
  PrintError(fmt::format("the output cannot be written: {}", std::strerror(errno)));
  return kExitFailed;
}

const char* SwitchWord(bool value) {
  return value ? "on" : "off";
}

struct Options {
  std::string topic;
  std::vector<std::string> settings;
  std::string manual_page;
  bool system = false;
  bool user = false;
};

D3DConfigScope ScopeOf(const Options& options) {
  if (options.system) return D3DConfigScope::kSystem;
  return options.user ? D3DConfigScope::kUser : DefaultD3DConfigScope();
}

// All of what was asked for, or why not.
Result<D3DConfigPlace> ParseSettings(const std::vector<std::string>& words) {
  D3DConfigPlace wanted;
  const auto refuse = [](std::string message) {
    return Status(StatusCode::kInvalidArgument, std::move(message) + "; nothing was changed");
  };
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name != kForceDriverRetailAnnotations) {
      return refuse(
          fmt::format("unknown setting '{}'; there is: {}", name, kForceDriverRetailAnnotations));
    }
    if (equals == word.npos) {
      return refuse(fmt::format("'{0}' has no value; say {0}=on or {0}=off", name));
    }
    const std::optional<bool> value = ParseD3DConfigSwitch(word.substr(equals + 1));
    if (!value.has_value()) {
      return refuse(fmt::format("'{}' is no value of {}; it is on or off (true, false)",
                                word.substr(equals + 1), name));
    }
    if (wanted.force_driver_retail_annotations.has_value()) {
      return refuse(fmt::format("{} is given twice", name));
    }
    wanted.force_driver_retail_annotations = value;
  }
  return wanted;
}

// A place's settings, or none and a warning.
D3DConfigPlace ReadPlace(D3DConfigScope scope) {
  Result<D3DConfigPlace> place = ReadD3DConfigPlace(scope);
  if (place.ok()) return std::move(place).value();
  // Without a home there are no settings of a user to show.
  if (place.status().code() != StatusCode::kNotFound) {
    PrintError(fmt::format("warning: {}; its settings have no effect", place.status().message()));
  }
  return {};
}

// For whom a place is, and where it is.
std::string PlaceName(D3DConfigScope scope) {
  const Result<std::string> name = SettingsName(scope);
  const std::string place = name.ok() ? VisibleText(*name) : "nowhere";
  if (scope == D3DConfigScope::kSystem) return "for every user of this machine: " + place;
  return fmt::format("for programs of user {}: {}", VisibleText(UserName()), place);
}

std::string SettingLine(bool value, const std::string& origin) {
  return fmt::format("{}={}  ({})\n", kForceDriverRetailAnnotations, SwitchWord(value), origin);
}

// Returns the setting that is in effect for the user's programs, or that of one place alone.
std::string Describe(const Options& options) {
  D3DConfigPlace system;
  D3DConfigPlace user;
  if (!options.user) system = ReadPlace(D3DConfigScope::kSystem);
  if (!options.system) user = ReadPlace(D3DConfigScope::kUser);
  const bool value = CombineD3DConfig(user, system).force_driver_retail_annotations;
  std::string origin = "default";
  // The place that decides: the one that says what is in effect.
  if (user.force_driver_retail_annotations == value) origin = PlaceName(D3DConfigScope::kUser);
  if (system.force_driver_retail_annotations == value) origin = PlaceName(D3DConfigScope::kSystem);
  return SettingLine(value, origin);
}

int Change(const Options& options) {
  const Result<D3DConfigPlace> wanted = ParseSettings(options.settings);
  if (!wanted.ok()) return UsageError(wanted.status().message());
  const D3DConfigScope scope = ScopeOf(options);
  const bool value = *wanted->force_driver_retail_annotations;
  std::vector<std::string> warnings;
  const Status status = ChangeD3DConfigPlace(
      scope, [&](D3DConfigPlace& place) { place.force_driver_retail_annotations = value; },
      &warnings);
  for (const std::string& warning : warnings) PrintError("warning: " + warning);
  if (!status.ok()) {
    PrintError(status.message() + "; nothing was changed");
    return kExitFailed;
  }
  const int exit_code = PrintOutput(SettingLine(value, PlaceName(scope)));
  const D3DConfigScope other =
      scope == D3DConfigScope::kSystem ? D3DConfigScope::kUser : D3DConfigScope::kSystem;
  const Result<D3DConfigPlace> there = ReadD3DConfigPlace(other);
  if (!value && there.ok() && there->force_driver_retail_annotations.value_or(false)) {
    PrintError(fmt::format("note: for your programs it stays on ({})", PlaceName(other)));
  }
  return exit_code;
}

// For the build, which installs it.
int WriteManualPage(const CLI::App& app, const std::string& path) {
  const std::string page = cli::ManualPage("d3dconfig", cli::Describe(app, kUsage));
  const FilePath file(path);
  std::error_code error = MakeFolders(file.parent_path());
  if (!error) error = ReplaceFile(file, std::as_bytes(std::span(page)), FileReaders::kEverybody);
  if (!error) return 0;
  PrintError(fmt::format("cannot write '{}': {}", path, error.message()));
  return kExitFailed;
}

int Run(const Options& options) {
  if (options.topic.empty()) {
    return UsageError("say what to configure: d3dconfig device; see d3dconfig --help");
  }
  if (options.topic != "device") {
    return UsageError(
        fmt::format("unknown topic '{}'; there is: device; see d3dconfig --help", options.topic));
  }
  if (options.settings.empty()) return PrintOutput(Describe(options));
  return Change(options);
}

int Main(int argc, char** argv) {
  PrepareStandardStreams();
  TellFileLimitsAsErrors();
  CLI::App app("Settings of Direct3D 12 devices, in effect without any change to a program.",
               "d3dconfig");
  Options options;
  app.add_option("topic", options.topic, "The kind of setting")->type_name("device");
  app.add_option("settings", options.settings,
                 "The setting to change; none: show what is in effect")
      ->type_name("SETTING=VALUE");
  CLI::Option* const system = app.add_flag("--system", options.system,
                                           "The settings of this machine, for all of its users");
  app.add_flag("--user", options.user, "The settings of who starts this, also for an administrator")
      ->excludes(system);
  app.add_option("--manual-page", options.manual_page)->group("");
  app.set_version_flag("--version", "d3dconfig " CAIRN_VERSION, "Print the version");
  app.footer(kAfterOptions);
  app.get_help_ptr()->description("Print this help");
  try {
    std::vector<std::string> words = CommandLineWords(argc, argv);
    std::reverse(words.begin(), words.end());  // the order that CLI11 wants
    app.parse(std::move(words));
  } catch (const CLI::CallForVersion& version) {
    return PrintOutput(std::string(version.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    return PrintOutput(cli::HelpText(cli::Describe(app, kUsage), {}, cli::TextColumns()));
  } catch (const CLI::ExtrasError&) {
    return UsageError(
        fmt::format("unknown option '{}'; see d3dconfig --help", app.remaining().front()));
  } catch (const CLI::ParseError& error) {
    return UsageError(fmt::format("{}; see d3dconfig --help", error.what()));
  }
  if (!options.manual_page.empty()) return WriteManualPage(app, options.manual_page);
  return Run(options);
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  try {
    return cairn::Main(argc, argv);
  } catch (const std::exception& error) {
    cairn::PrintError(fmt::format("failed: {}", error.what()));
    return cairn::kExitFailed;
  }
}
