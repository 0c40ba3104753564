// SPDX-License-Identifier: Apache-2.0
#include "report_reading.h"

#include <ostream>

#include "base/testing/json.h"
#include "harness.h"

namespace cairn::testing {
namespace {

// null if there is no valid report.
Json JsonReportOf(const std::string& file) {
  const CommandResult result = RunCommand({Program("cairn"), "report", "--json", file}, {});
  if (result.exit_code != 0 || !result.errors.empty()) return nullptr;
  return Json::Parse(result.output);
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
  const Json report = JsonReportOf(file);
  if (!report.is_object()) return incidents;
  for (const Json& entry : report.at("incidents")) {
    ReportedIncident incident;
    incident.kind = entry.at("kind").get<std::string>();
    incident.value = entry.at("value").get<int64_t>();
    incident.detail = entry.at("detail").get<std::string>();
    if (!entry.at("queue").is_null()) {
      const Json queue = report.at("queues").at(entry.at("queue").get<size_t>());
      incident.queue = queue.at("name").get<std::string>();
    }
    incidents.push_back(incident);
  }
  return incidents;
}

ReportedWork ReadReportedWork(const std::string& file) {
  ReportedWork work;
  const Json report = JsonReportOf(file);
  if (!report.is_object()) return work;
  work.valid = true;
  for (const Json& entry : report.at("executions")) {
    work.executions.push_back(
        {entry.at("name").get<std::string>(), entry.at("state").get<std::string>(),
         entry.at("reached").get<uint32_t>(), entry.at("passed").get<uint32_t>()});
  }
  for (const Json& entry : report.at("scopes")) {
    work.scope_states.push_back(entry.at("state").get<std::string>());
  }
  for (const Json& verdict : report.at("verdicts")) {
    for (const Json& candidate : verdict.at("candidates")) {
      work.candidates.push_back(candidate.at("type").get<std::string>() + " " +
                                candidate.at("name").get<std::string>());
    }
  }
  for (const Json& device : report.at("devices")) {
    work.word_memories.push_back(device.at("word_memory").get<std::string>());
  }
  for (const Json& loss : report.at("losses")) work.losses.push_back(loss.get<std::string>());
  return work;
}

}  // namespace cairn::testing
