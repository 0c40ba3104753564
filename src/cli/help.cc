// SPDX-License-Identifier: Apache-2.0
//
// cairn help: what --help says, and the same for man(1) and for shells that complete words.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/description.h"
#include "cli/text_columns.h"
#include "cli/verb.h"
#include "os/file.h"
#include "os/new_file.h"

namespace cairn::cli {
namespace {

constexpr char kHelpExamples[] =
    "Examples:\n"
    "  cairn help                                lists the commands\n"
    "  cairn help bisect                         the same as cairn bisect --help\n"
    "  cairn help --files share                  manual pages and completions for bash, zsh and "
    "fish,\n"
    "                                            in the folders of share where they look for "
    "them";

struct HelpOptions {
  std::string verb;
  std::string files;
};

Status Write(const FilePath& folder, const std::string& name, const std::string& text) {
  const FilePath path(folder / FilePath(name));
  std::error_code error = MakeFolders(path.parent_path());
  if (!error) error = ReplaceFile(path, std::as_bytes(std::span(text)), FileReaders::kEverybody);
  if (!error) return {};
  return StatusFromError(error, fmt::format("cannot write '{}'", TextOfPath(path)));
}

Status WriteFiles(const std::vector<VerbDescription>& verbs, const std::string& folder) {
  for (const VerbDescription& verb : verbs) {
    const std::string name = verb.name.empty() ? "cairn" : "cairn-" + verb.name;
    CAIRN_RETURN_IF_ERROR(
        Write(folder, fmt::format("man/man1/{}.1", name), ManualPage(verbs, verb)));
  }
  for (const auto& [shell, path] : {std::pair{"bash", "bash-completion/completions/cairn"},
                                    std::pair{"zsh", "zsh/site-functions/_cairn"},
                                    std::pair{"fish", "fish/vendor_completions.d/cairn.fish"}}) {
    CAIRN_RETURN_IF_ERROR(Write(folder, path, CompletionScript(verbs, shell)));
  }
  return {};
}

int Run(const HelpOptions& options, const CLI::App& root) {
  const std::vector<VerbDescription> verbs = DescribeVerbs(root);
  if (!options.files.empty()) {
    if (!options.verb.empty()) {
      PrintError("help", "--files writes all of them; leave the command out");
      return kExitUsage;
    }
    const Status written = WriteFiles(verbs, options.files);
    if (!written.ok()) PrintError("help", "--files: " + written.message());
    return written.ok() ? 0 : kExitFailed;
  }
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const VerbDescription& known) {
    return known.name == options.verb;
  });
  if (verb == verbs.end()) {
    std::vector<std::string> names;
    for (const VerbDescription& known : verbs) names.push_back(known.name);
    const std::string closest = ClosestWord(options.verb, names);
    PrintError("help", fmt::format("unknown command '{}'; {}", options.verb,
                                   closest.empty() ? "cairn help lists the commands"
                                                   : "did you mean '" + closest + "'?"));
    return kExitUsage;
  }
  return PrintOutput("help", HelpText(*verb, verbs, TextColumns())) ? 0 : kExitFailed;
}

}  // namespace

Verb AddHelpVerb(CLI::App& root) {
  auto options = std::make_shared<HelpOptions>();
  Command command(root, "help", "Explains a command.", "cairn help [OPTIONS] [COMMAND]",
                  kHelpExamples);
  command.Option("verb", &options->verb, "COMMAND",
                 "The command to explain; all of cairn if not given");
  command.Option("--files", &options->files, "FOLDER",
                 "Write manual pages and completions of shells into this folder");
  Verb verb = {command.app(), [options, &root] { return Run(*options, root); }};
  verb.pages = true;
  return verb;
}

}  // namespace cairn::cli
