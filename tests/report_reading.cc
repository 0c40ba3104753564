// SPDX-License-Identifier: Apache-2.0
#include "report_reading.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "harness.h"

namespace cairn::testing {
namespace {

// null if there is no valid report.
nlohmann::json JsonReportOf(const std::string& file) {
  const CommandResult result = RunCommand({Program("cairn"), "report", "--json", file}, {});
  if (result.exit_code != 0 || !result.errors.empty()) return nullptr;
  return nlohmann::json::parse(result.output, nullptr, false);
}

}  // namespace

std::string ReportTree(const std::string& file, bool all) {
  std::vector<std::string> arguments = {Program("cairn"), "report", file};
  if (all) arguments.push_back("--all");
  const CommandResult result = RunCommand(arguments, {});
  const size_t start = result.output.find("<Frame");
  if (result.exit_code != 0 || start == std::string::npos) return "no tree: " + result.Summary();
  const size_t end = result.output.find("\n\n", start);
  return result.output.substr(start, end == std::string::npos ? end : end + 1 - start);
}

void PrintTo(const ReportedIncident& incident, std::ostream* out) {
  *out << incident.kind << " " << incident.value << " queue '" << incident.queue << "' detail '"
       << incident.detail << "'";
}

std::vector<ReportedIncident> ReportedIncidents(const std::string& file) {
  std::vector<ReportedIncident> incidents;
  const nlohmann::json report = JsonReportOf(file);
  if (!report.is_object()) return incidents;
  for (const nlohmann::json& entry : report.at("incidents")) {
    ReportedIncident incident;
    incident.kind = entry.at("kind");
    incident.value = entry.at("value");
    incident.detail = entry.at("detail");
    if (!entry.at("queue").is_null()) {
      incident.queue = report.at("queues").at(entry.at("queue").get<size_t>()).at("name");
    }
    incidents.push_back(incident);
  }
  return incidents;
}

ReportedWork ReadReportedWork(const std::string& file) {
  ReportedWork work;
  const nlohmann::json report = JsonReportOf(file);
  if (!report.is_object()) return work;
  work.valid = true;
  for (const nlohmann::json& entry : report.at("executions")) {
    work.executions.push_back(
        {entry.at("name"), entry.at("state"), entry.at("reached"), entry.at("passed")});
  }
  for (const nlohmann::json& entry : report.at("scopes")) {
    work.scope_states.push_back(entry.at("state"));
  }
  for (const nlohmann::json& verdict : report.at("verdicts")) {
    for (const nlohmann::json& candidate : verdict.at("candidates")) {
      work.candidates.push_back(candidate.at("type").get<std::string>() + " " +
                                candidate.at("name").get<std::string>());
    }
  }
  for (const nlohmann::json& device : report.at("devices")) {
    work.word_memories.push_back(device.at("word_memory"));
  }
  for (const nlohmann::json& loss : report.at("losses")) work.losses.push_back(loss);
  return work;
}

}  // namespace cairn::testing
