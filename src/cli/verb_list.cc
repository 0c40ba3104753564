// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_list.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/play_process.h"
#include "os/executable_stack.h"
#include "reader/replay/device.h"

namespace cairn::cli {
namespace {

// The Direct3D 12 that a verb loads; "" if it loads none.
std::string LibraryOf(const CLI::App& verb) {
  if (verb.get_name() == "selftest") return kDefaultD3D12Library;
  const CLI::Option* const option = verb.get_option_no_throw("--library");
  if (option == nullptr) return "";
  return option->count() == 0 ? kDefaultD3D12Library : option->as<std::string>();
}

}  // namespace

std::vector<Verb> AddVerbs(CLI::App& root) {
  constexpr Verb (*kAll[])(CLI::App&) = {
      AddRunVerb,      AddReportVerb,  AddViewVerb,     AddTriageVerb,       AddInfoVerb,
      AddCallsVerb,    AddObjectsVerb, AddImagesVerb,   AddStateVerb,        AddDiffVerb,
      AddVerifyVerb,   AddTrimVerb,    AddRepackVerb,   AddReplayVerb,       AddBisectVerb,
      AddExportVerb,   AddTopVerb,     AddSelftestVerb, AddPixVerb,          AddMcpVerb,
      AddHelpVerb,     AddWatchVerb,   AddProbeVerb,    AddWitnessProbeVerb, AddTrialVerb,
      AddGpuCheckVerb, AddPicturesVerb};
  std::vector<Verb> verbs;
  for (const auto add : kAll) {
    verbs.push_back(add(root));
    if (verbs.back().program != nullptr) SetTakesProgram(*verbs.back().app);
  }
  return verbs;
}

void PrepareFor(const Verb& verb, const std::vector<std::string>& words, char** argv) {
  SetOwnWords(words);
  if (const std::string library = LibraryOf(*verb.app); !library.empty()) {
    AllowExecutableStack(library, argv);
  }
}

}  // namespace cairn::cli
