// SPDX-License-Identifier: Apache-2.0
//
// cairn selftest: what every device of this machine can record, by values read back.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/breadcrumbs/d3d12_probe.h"
#include "app/breadcrumbs/vulkan_probe.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/layer.h"
#include "cli/run_check.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "cli/vulkan_layer_check.h"
#include "os/environment.h"
#include "reader/report/words.h"

namespace cairn::cli {
namespace {

constexpr char kSelftestExamples[] =
    "Examples:\n"
    "  cairn selftest                 every device, with Vulkan and with Direct3D 12\n"
    "  cairn selftest --api vulkan    only with Vulkan\n"
    "  cairn selftest --json          for programs; the schema is "
    "docs/formats/selftest.schema.json\n"
    "\n"
    "Exit code: 0 if breadcrumbs work on at least one device, 1 if on none.\n"
    "Each device begins with the verdict. The line \"cairn run\" says how the layers write "
    "breadcrumbs\n"
    "there, \"libcairn\" how a program that calls libcairn itself writes them. States of\n"
    "the ways that were tried: works; silent: calls succeed and nothing is written; failed; "
    "absent.";

struct SelftestOptions {
  std::string api;
  bool alone = false;  // tries no run
  bool json = false;
};

// The common result of both APIs' probes.
struct DeviceResult {
  std::string api;
  std::string name;
  std::string driver;
  std::string api_version;
  std::string notes;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  Status status;
  WriteMethod method = WriteMethod::kNone;
  WordMemory memory = WordMemory::kNone;
  std::vector<SourceFinding> findings;

  // As runs of cairn run record.
  std::optional<DeviceOfRun> run;
  std::string run_problem;  // why `run` is empty or records nothing

  bool works() const { return status.ok() && method != WriteMethod::kNone; }
  bool works_in_runs() const { return run.has_value() && run->method != WriteMethod::kNone; }
};

struct ApiFailure {
  std::string api;
  std::string message;
};

struct SelftestResult {
  std::vector<DeviceResult> devices;
  std::vector<ApiFailure> failures;
  std::optional<VulkanLayerCheck> layer;  // empty: not looked for
};

const char* StateWord(SourceState state) {
  switch (state) {
    case SourceState::kPresent: return "works";
    case SourceState::kFailed: return "failed";
    case SourceState::kSilent: return "silent";
    case SourceState::kAbsent: break;
  }
  return "absent";
}

std::string_view MethodWords(WriteMethod method) {
  return method == WriteMethod::kNone ? "none" : MethodName(method);
}

const char* SurvivalWords(WordMemory memory) {
  switch (memory) {
    case WordMemory::kImported:
      return "imported: the GPU writes into shared memory, which survives the process";
    case WordMemory::kMirrored:
      return "mirrored: a thread copies to shared memory; after SIGKILL the last copy survives";
    case WordMemory::kCallback:
    case WordMemory::kNone: break;
  }
  return "none that survives";
}

template <typename Probe>
DeviceResult FromProbe(const char* api, Probe& probe) {
  DeviceResult device;
  device.api = api;
  device.name = std::move(probe.device_name);
  device.driver = std::move(probe.driver_name);
  device.notes = std::move(probe.notes);
  device.vendor_id = probe.vendor_id;
  device.device_id = probe.device_id;
  device.status = std::move(probe.status);
  device.method = probe.method;
  device.memory = probe.memory;
  device.findings = std::move(probe.findings);
  return device;
}

void ProbeVulkan(SelftestResult* result) {
  Result<std::vector<VulkanProbe>> probes = ProbeVulkanDevices();
  if (!probes.ok()) {
    result->failures.push_back({"vulkan", probes.status().message()});
    return;
  }
  for (VulkanProbe& probe : *probes) {
    DeviceResult device = FromProbe("vulkan", probe);
    device.api_version = std::move(probe.api_version);
    result->devices.push_back(std::move(device));
  }
}

void ProbeD3D12(SelftestResult* result) {
  Result<std::vector<D3D12Probe>> probes = ProbeD3D12Devices();
  if (!probes.ok()) {
    result->failures.push_back({"d3d12", probes.status().message()});
    return;
  }
  for (D3D12Probe& probe : *probes) result->devices.push_back(FromProbe("d3d12", probe));
}

// The first line of a device. Runs count for more than programs of their own: most programs are run.
std::string Verdict(const DeviceResult& device) {
  const std::string where = fmt::format("{} with {}", VisibleText(device.name),
                                        device.api == "vulkan" ? "Vulkan" : "Direct3D 12");
  if (!device.works() && !device.works_in_runs()) {
    const std::string& why =
        device.status.ok() ? "no way of writing them works" : device.status.message();
    return fmt::format("Breadcrumbs do not work on {}: {}.", where, VisibleText(why));
  }
  const bool runs = device.works_in_runs();
  const WordMemory memory = runs ? device.run->memory : device.memory;
  return fmt::format("Breadcrumbs work on {}: {}{}.", where,
                     memory == WordMemory::kImported
                         ? "all that the GPU wrote survives the program"
                         : "after SIGKILL the last 500 µs may be missing",
                     runs || device.run_problem.empty() ? "" : ", for programs that call libcairn");
}

void AddDeviceText(const DeviceResult& device, fmt::memory_buffer& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\n", Verdict(device));
  fmt::format_to(out, "  driver     {}{}\n", VisibleText(device.driver),
                 device.api_version.empty() ? "" : ", Vulkan " + VisibleText(device.api_version));
  if (!device.notes.empty()) fmt::format_to(out, "  notes      {}\n", VisibleText(device.notes));
  if (device.run.has_value()) {
    fmt::format_to(out, "  cairn run  {}; {}\n", MethodWords(device.run->method),
                   SurvivalWords(device.run->memory));
  } else if (!device.run_problem.empty()) {
    fmt::format_to(out, "  cairn run  not tried: {}\n", VisibleText(device.run_problem));
  }
  fmt::format_to(out, "  libcairn   {}; {}\n", MethodWords(device.method),
                 SurvivalWords(device.memory));
  if (!device.status.ok()) {
    fmt::format_to(out, "  failed     {}\n", VisibleText(device.status.message()));
  }
  size_t width = 0;
  for (const SourceFinding& finding : device.findings) {
    width = std::max(width, CodePointCount(VisibleText(finding.name)));
  }
  for (const SourceFinding& finding : device.findings) {
    const std::string name = VisibleText(finding.name);
    fmt::format_to(out, "    {:<7} {}", StateWord(finding.state), name);
    if (!finding.reason.empty()) {
      // The layers are tried in a process of their own.
      const bool is_of_layer = finding.reason.ends_with(" is not active");
      fmt::format_to(out, "{:{}}  {}{}", "", width - CodePointCount(name),
                     VisibleText(finding.reason), is_of_layer ? " here; cairn run enables it" : "");
    }
    text.push_back('\n');
  }
}

void AddLayerText(const VulkanLayerCheck& layer, fmt::memory_buffer& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "Vulkan layer: {}\n", kVulkanLayerName);
  fmt::format_to(out, "  state    {}{}{}\n", StateWord(layer.state),
                 layer.reason.empty() ? "" : ": ", VisibleText(layer.reason));
  for (const LayerOnDevice& device : layer.devices) {
    fmt::format_to(out, "    {:<7} {}", device.problem.empty() ? "works" : "failed",
                   VisibleText(device.device));
    if (device.problem.empty()) {
      fmt::format_to(out, "  {}, {}\n", MethodWords(device.method), MemoryWord(device.memory));
    } else {
      fmt::format_to(out, "  {}\n", VisibleText(device.problem));
    }
  }
}

std::string ResultText(const SelftestResult& result) {
  fmt::memory_buffer text;
  for (const DeviceResult& device : result.devices) {
    if (text.size() != 0) text.push_back('\n');
    AddDeviceText(device, text);
  }
  if (result.layer.has_value()) {
    if (text.size() != 0) text.push_back('\n');
    AddLayerText(*result.layer, text);
  }
  return fmt::to_string(text);
}

// Begins the names that were others in the version before.
constexpr char kBarriers[] = "waits at barriers behind ";

void WriteDevice(const DeviceResult& device, JsonWriter* json) {
  json->BeginObject();
  json->StringKey("api", device.api);
  json->StringKey("name", device.name);
  json->StringKey("driver", device.driver);
  json->StringKey("api_version", device.api_version);
  json->StringKey("notes", device.notes);
  json->NumberKey("vendor_id", device.vendor_id);
  json->NumberKey("device_id", device.device_id);
  json->BoolKey("works", device.works());
  json->StringKey("method", MethodWords(device.method));
  json->StringKey("memory", MemoryWord(device.memory));
  if (device.run.has_value()) {
    json->BeginObject("in_runs");
    json->StringKey("method", MethodWords(device.run->method));
    json->StringKey("memory", MemoryWord(device.run->memory));
    json->EndObject();
  } else {
    json->NullKey("in_runs");
  }
  json->StringKey("error", device.status.message());
  json->BeginArray("sources");
  for (const SourceFinding& finding : device.findings) {
    json->BeginObject();
    json->StringKey("name", finding.name);
    if (finding.name.starts_with(kBarriers)) {
      json->StringKey("former_name", "witnesses of the end of " +
                                         finding.name.substr(std::string_view(kBarriers).size()));
    }
    json->StringKey("state", StateWord(finding.state));
    json->StringKey("reason", finding.reason);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteLayer(const std::optional<VulkanLayerCheck>& layer, JsonWriter* json) {
  if (!layer.has_value()) return json->NullKey("vulkan_layer");
  json->BeginObject("vulkan_layer");
  json->StringKey("name", kVulkanLayerName);
  json->StringKey("state", StateWord(layer->state));
  json->StringKey("reason", layer->reason);
  json->BeginArray("devices");
  for (const LayerOnDevice& device : layer->devices) {
    json->BeginObject();
    json->StringKey("name", device.device);
    json->BoolKey("works", device.problem.empty());
    json->StringKey("method", MethodWords(device.method));
    json->StringKey("memory", MemoryWord(device.memory));
    json->StringKey("problem", device.problem);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

std::string ResultJson(const SelftestResult& result) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-selftest");
  json.NumberKey("version", 1);
  json.BeginArray("devices");
  for (const DeviceResult& device : result.devices) WriteDevice(device, &json);
  json.EndArray();
  WriteLayer(result.layer, &json);
  json.BeginArray("errors");
  for (const ApiFailure& failure : result.failures) {
    json.BeginObject();
    json.StringKey("api", failure.api);
    json.StringKey("message", failure.message);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

void NoteRun(const Result<std::vector<DeviceOfRun>>& runs, DeviceResult* device) {
  if (!runs.ok()) {
    device->run_problem = runs.status().message();
    return;
  }
  const auto run = std::find_if(runs->begin(), runs->end(), [device](const DeviceOfRun& known) {
    return known.name == device->name;
  });
  if (run == runs->end()) {
    device->run_problem = "the layers did not see this device";
  } else {
    device->run = *run;
  }
}

// The layer of Vulkan has been tried already; for Direct3D 12 it takes a run.
void NoteRuns(SelftestResult* result) {
  const auto has = [result](const char* api) {
    return std::any_of(result->devices.begin(), result->devices.end(),
                       [api](const DeviceResult& device) { return device.api == api; });
  };
  Result<std::vector<DeviceOfRun>> d3d12 = std::vector<DeviceOfRun>();
  if (has("d3d12")) d3d12 = TryD3D12Run();
  Result<std::vector<DeviceOfRun>> vulkan = std::vector<DeviceOfRun>();
  if (result->layer.has_value()) {
    if (result->layer->state != SourceState::kPresent) {
      vulkan = Status(StatusCode::kUnsupported, result->layer->reason);
    } else {
      for (const LayerOnDevice& device : result->layer->devices) {
        vulkan->push_back({device.device, device.method, device.memory});
      }
    }
  }
  for (DeviceResult& device : result->devices) {
    NoteRun(device.api == "d3d12" ? d3d12 : vulkan, &device);
  }
}

int Run(const SelftestOptions& options) {
  // libvkd3d complains on stderr about every stub that the test calls on purpose.
  if (std::getenv("VKD3D_DEBUG") == nullptr) SetVariable("VKD3D_DEBUG", "none");
  SelftestResult result;
  if (options.api != "d3d12") {
    MakeVulkanLayerKnown();
    ProbeVulkan(&result);
  }
  const bool has_vulkan = !result.devices.empty();
  if (options.api != "vulkan") ProbeD3D12(&result);
  // Without a device of Vulkan there is no layer either, for the same reason. It comes last: on Windows its library stands
  // in front of Direct3D 12 from now on.
  if (has_vulkan) result.layer = CheckVulkanLayer();
  if (!options.alone) NoteRuns(&result);
  const bool works = std::any_of(result.devices.begin(), result.devices.end(),
                                 [](const DeviceResult& device) { return device.works(); });
  for (const ApiFailure& failure : result.failures) {
    const std::string message = fmt::format("{}: {}", failure.api, failure.message);
    if (works) {
      PrintWarning("selftest", message);
    } else {
      PrintError("selftest", message);
    }
  }
  const std::string text = options.json ? ResultJson(result) : FittedToTerminal(ResultText(result));
  if (!PrintOutput("selftest", text)) return kExitFailed;
  return works ? 0 : kExitFailed;
}

}  // namespace

Verb AddSelftestVerb(CLI::App& root) {
  auto options = std::make_shared<SelftestOptions>();
  Command command(root, "selftest", "Tests how much Cairn can record on each GPU of this machine.",
                  "cairn selftest [OPTIONS]", kSelftestExamples);
  command.Option("--api", &options->api, "API", "Test only with this API")
      .OneOf({"vulkan", "d3d12"});
  command.Json(&options->json);
  command.Flag("--alone", &options->alone).Hidden();
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
