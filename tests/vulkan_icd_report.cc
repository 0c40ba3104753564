// SPDX-License-Identifier: Apache-2.0
#include "vulkan_icd_report.h"

namespace cairn::testing {
namespace {

using nlohmann::json;

// The scope's own name, or that of the innermost scope around it that has one.
std::string LabelOf(const json& scopes, size_t index) {
  while (true) {
    const json& scope = scopes.at(index);
    if (const std::string name = scope.at("name"); !name.empty()) return name;
    if (scope.at("parent").is_null()) return scope.at("type");
    index = scope.at("parent");
  }
}

void ReadCandidates(const json& report, IcdReport* read) {
  for (const json& verdict : report.at("verdicts")) {
    for (const json& candidate : verdict.at("candidates")) {
      // It stands still because of the work that it waits for.
      if (candidate.at("type") == "PIPELINE_BARRIER") continue;
      read->candidates.push_back(LabelOf(report.at("scopes"), candidate.at("scope")));
    }
  }
}

void ReadLateSuspects(const json& report, IcdReport* read) {
  for (const json& verdict : report.at("verdicts")) {
    const json& suspect = verdict.at("late_suspect");
    if (suspect.is_null()) continue;
    read->late_suspects.push_back(LabelOf(report.at("scopes"), suspect.at("scope")));
  }
}

void ReadStates(const json& report, IcdReport* read) {
  for (const json& execution : report.at("executions")) {
    const size_t first = execution.at("first_scope");
    const size_t count = execution.at("scope_count");
    for (size_t i = first; i < first + count; ++i) {
      const json& scope = report.at("scopes").at(i);
      const std::string name = scope.at("name");
      if (!name.empty()) read->states[name] = scope.at("state");
    }
  }
}

}  // namespace

std::vector<std::string> IcdArguments(const IcdRun& run) {
  std::vector<std::string> arguments = {
      Program("cairn"),   "run",           "--quiet", "-o", "a.cairn", "--hang-timeout",
      run.hang_timeout_s, "--kill-on-hang"};
  if (run.explicit_cairn) arguments.push_back("--no-layer");
  arguments.insert(arguments.end(),
                   {"--", CAIRN_BINARY_DIR "/tests/icd/icd_program", run.scenario});
  if (run.explicit_cairn) arguments.push_back("--explicit");
  return arguments;
}

Command::Options IcdOptions(const IcdRun& run, const TemporaryFolder& folder) {
  Command::Options options;
  options.folder = folder.path();
  options.environment = {"VK_DRIVER_FILES=" CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json",
                         "VK_LOADER_LAYERS_DISABLE=~implicit~",
                         "CAIRN_ICD=" + run.icd,
                         "CAIRN_BREADCRUMBS=" + run.mode,
                         "CAIRN_DEVICE_FAULT=" + run.device_fault,
                         "CAIRN_ICD_REQUESTS=" + folder / "requests"};
  return options;
}

IcdReport ReadIcdReport(const TemporaryFolder& folder) {
  IcdReport read;
  read.result = RunCommand({Program("cairn"), "report", "--json", folder / "a.cairn"}, {});
  if (read.result.exit_code != 0) return read;
  read.json = json::parse(read.result.output, nullptr, false);
  if (!read.json.is_object()) return read;
  ReadLateSuspects(read.json, &read);
  ReadCandidates(read.json, &read);
  ReadStates(read.json, &read);
  for (const json& incident : read.json.at("incidents")) {
    read.incidents.push_back(incident.at("kind"));
  }
  return read;
}

IcdReport RunOnTestDriver(const IcdRun& run, const TemporaryFolder& folder) {
  const CommandResult result = RunCommand(IcdArguments(run), IcdOptions(run, folder));
  IcdReport read = ReadIcdReport(folder);
  if (!read.json.is_object()) read.result.errors += "\nafter " + result.Summary();
  if (read.json.is_object()) read.result = result;
  return read;
}

std::string IcdTextReport(const TemporaryFolder& folder) {
  return RunCommand({Program("cairn"), "report", "--all", folder / "a.cairn"}, {}).output;
}

}  // namespace cairn::testing
