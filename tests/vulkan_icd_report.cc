// SPDX-License-Identifier: Apache-2.0
#include "vulkan_icd_report.h"

namespace cairn::testing {
namespace {

// The scope's own name, or that of the innermost scope around it that has one.
std::string LabelOf(const Json& scopes, size_t index) {
  while (true) {
    const Json scope = scopes.at(index);
    if (const std::string name = scope.at("name").get<std::string>(); !name.empty()) return name;
    if (scope.at("parent").is_null()) return scope.at("type").get<std::string>();
    index = scope.at("parent").get<size_t>();
  }
}

void ReadCandidates(const Json& report, IcdReport* read) {
  for (const Json& verdict : report.at("verdicts")) {
    for (const Json& candidate : verdict.at("candidates")) {
      // It stands still because of the work that it waits for.
      if (candidate.at("type") == "PIPELINE_BARRIER") continue;
      read->candidates.push_back(LabelOf(report.at("scopes"), candidate.at("scope").get<size_t>()));
    }
  }
}

void ReadLateSuspects(const Json& report, IcdReport* read) {
  for (const Json& verdict : report.at("verdicts")) {
    const Json suspect = verdict.at("late_suspect");
    if (suspect.is_null()) continue;
    read->late_suspects.push_back(LabelOf(report.at("scopes"), suspect.at("scope").get<size_t>()));
  }
}

void ReadStates(const Json& report, IcdReport* read) {
  for (const Json& execution : report.at("executions")) {
    const size_t first = execution.at("first_scope").get<size_t>();
    const size_t count = execution.at("scope_count").get<size_t>();
    for (size_t i = first; i < first + count; ++i) {
      const Json scope = report.at("scopes").at(i);
      const std::string name = scope.at("name").get<std::string>();
      if (!name.empty()) read->states[name] = scope.at("state").get<std::string>();
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
  // The loader finds the library beside it by the system's own separators alone.
  std::filesystem::path manifest = CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json";
  Command::Options options;
  options.folder = folder.path();
  options.environment = {"VK_DRIVER_FILES=" + manifest.make_preferred().string(),
                         "VK_LOADER_LAYERS_DISABLE=~implicit~",
                         "CAIRN_ICD=" + run.icd,
                         "CAIRN_BREADCRUMBS=" + run.mode,
                         "CAIRN_DEVICE_FAULT=" + run.device_fault,
                         "CAIRN_WITNESSES=" + run.witnesses,
                         "CAIRN_ICD_REQUESTS=" + folder / "requests"};
  return options;
}

IcdReport ReadIcdReport(const TemporaryFolder& folder) {
  IcdReport read;
  read.result = RunCommand({Program("cairn"), "report", "--json", folder / "a.cairn"}, {});
  if (read.result.exit_code != 0) return read;
  read.json = Json::Parse(read.result.output);
  if (!read.json.is_object()) return read;
  ReadLateSuspects(read.json, &read);
  ReadCandidates(read.json, &read);
  ReadStates(read.json, &read);
  for (const Json& incident : read.json.at("incidents")) {
    read.incidents.push_back(incident.at("kind").get<std::string>());
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

IcdReport IcdTest::RunReported(const IcdRun& run) {
  IcdReport report = RunOnTestDriver(run, folder_);
  EXPECT_TRUE(report.json.is_object()) << report.result.Summary();
  return report;
}

std::string SourceOf(const IcdReport& report, const std::string& source) {
  for (const Json& known : report.json.at("devices").at(0).at("sources")) {
    if (known.at("name") != source) continue;
    return known.at("state").get<std::string>() + ": " + known.at("reason").get<std::string>();
  }
  return "";
}

std::string IcdTextReport(const TemporaryFolder& folder) {
  return RunCommand({Program("cairn"), "report", "--all", folder / "a.cairn"}, {}).output;
}

}  // namespace cairn::testing
