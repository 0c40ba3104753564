// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_list.h"

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/play_process.h"
#include "cli/report_program.h"
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
  std::vector<Verb> verbs;
  const auto add = [&](const char* group, std::initializer_list<Verb (*)(CLI::App&)> functions) {
    for (const auto function : functions) {
      verbs.push_back(function(root));
      if (group != nullptr) verbs.back().app->group(group);
      if (verbs.back().program != nullptr) SetTakesProgram(*verbs.back().app);
    }
  };
  add("Find a crash or a hang",
      {AddRunVerb, AddReportVerb, AddViewVerb, AddBisectVerb, AddWhyVerb, AddTopVerb});
#ifndef _WIN32
  add("Without cairn run: programs of a desktop, of Steam", {AddWatchdVerb, AddListVerb});
#endif
  add("Look into a trace: the calls of a Direct3D 12 program, recorded by cairn run --capture",
      {AddCallsVerb, AddObjectsVerb, AddStateVerb, AddImagesVerb, AddReplayVerb, AddVerifyVerb,
       AddTrimVerb, AddRepackVerb});
  add("Compare", {AddDiffVerb, AddTriageVerb});
  add("For scripts, agents and other programs", {AddInfoVerb, AddExportVerb, AddMcpVerb});
  add("About this machine, PIX and these commands", {AddSelftestVerb, AddPixVerb, AddHelpVerb});
  // The help does not list them.
  add(nullptr, {AddWatchVerb, AddProbeVerb, AddWitnessProbeVerb, AddTrialVerb, AddGpuCheckVerb,
                AddPicturesVerb, AddHandOnVerb});
  return verbs;
}

void PrepareFor(const Verb& verb, const std::vector<std::string>& words, char** argv) {
  SetOwnWords(words);
  if (const std::string library = LibraryOf(*verb.app); !library.empty()) {
    AllowExecutableStack(library, argv);
  }
}

}  // namespace cairn::cli
