// SPDX-License-Identifier: Apache-2.0
//
// cairn selftest: what every device of this machine can record, by values read back.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/breadcrumbs/d3d12_probe.h"
#include "app/breadcrumbs/vulkan_probe.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/layer.h"
#include "cli/verb.h"
#include "cli/vulkan_layer_check.h"
#include "os/environment.h"
#include "reader/view/json_document.h"

namespace cairn::cli {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  cairn selftest                 every device, with Vulkan and with Direct3D 12\n"
    "  cairn selftest --api vulkan    only with Vulkan\n"
    "  cairn selftest --json          for scripts\n"
    "\n"
    "Exit code: 0 if breadcrumbs work on at least one device, 1 if on none.\n"
    "The Vulkan layer that cairn run enables is tried as well: whether the loader finds it, and "
    "what\n"
    "it records with on each device.\n"
    "Method states: works; silent: calls succeed and nothing is written; failed; absent.";

struct SelftestOptions {
  std::string api;
  bool json = false;
};

// What both APIs' probes say.
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

  bool works() const { return status.ok() && method != WriteMethod::kNone; }
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

const char* MethodWords(WriteMethod method) {
  switch (method) {
    case WriteMethod::kD3D12WriteBufferImmediate: return "WriteBufferImmediate";
    case WriteMethod::kD3D12CopyBufferRegion: return "CopyBufferRegion";
    case WriteMethod::kVulkanBufferMarker: return "VK_AMD_buffer_marker";
    case WriteMethod::kVulkanFillBuffer: return "vkCmdFillBuffer";
    case WriteMethod::kDriverBufferMarker: return "VK_AMD_buffer_marker through the Vulkan layer";
    case WriteMethod::kDriverFillBuffer: return "vkCmdFillBuffer through the Vulkan layer";
    case WriteMethod::kCustom:
    case WriteMethod::kNone: break;
  }
  return "none";
}

const char* MemoryWord(WordMemory memory) {
  switch (memory) {
    case WordMemory::kImported: return "imported";
    case WordMemory::kMirrored: return "mirrored";
    case WordMemory::kCallback:
    case WordMemory::kNone: break;
  }
  return "none";
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

void AddDeviceText(const DeviceResult& device, fmt::memory_buffer& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {}\n", device.api == "vulkan" ? "Vulkan" : "Direct3D 12",
                 VisibleText(device.name));
  fmt::format_to(out, "  driver   {}{}\n", VisibleText(device.driver),
                 device.api_version.empty() ? "" : ", Vulkan " + VisibleText(device.api_version));
  if (!device.notes.empty()) fmt::format_to(out, "  notes    {}\n", VisibleText(device.notes));
  fmt::format_to(out, "  chosen   {}\n", MethodWords(device.method));
  fmt::format_to(out, "  memory   {}\n", SurvivalWords(device.memory));
  if (!device.status.ok()) {
    fmt::format_to(out, "  failed   {}\n", VisibleText(device.status.message()));
  }
  size_t width = 0;
  for (const SourceFinding& finding : device.findings) {
    width = std::max(width, CodePointCount(VisibleText(finding.name)));
  }
  for (const SourceFinding& finding : device.findings) {
    const std::string name = VisibleText(finding.name);
    fmt::format_to(out, "    {:<7} {}", StateWord(finding.state), name);
    if (!finding.reason.empty()) {
      fmt::format_to(out, "{:{}}  {}", "", width - CodePointCount(name),
                     VisibleText(finding.reason));
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

nlohmann::ordered_json LayerJson(const std::optional<VulkanLayerCheck>& layer) {
  if (!layer.has_value()) return nullptr;
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const LayerOnDevice& device : layer->devices) {
    devices.push_back({{"name", device.device},
                       {"works", device.problem.empty()},
                       {"method", MethodWords(device.method)},
                       {"memory", MemoryWord(device.memory)},
                       {"problem", device.problem}});
  }
  return {{"name", kVulkanLayerName},
          {"state", StateWord(layer->state)},
          {"reason", layer->reason},
          {"devices", std::move(devices)}};
}

std::string ResultJson(const SelftestResult& result) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const DeviceResult& device : result.devices) {
    nlohmann::ordered_json sources = nlohmann::ordered_json::array();
    for (const SourceFinding& finding : device.findings) {
      sources.push_back({{"name", finding.name},
                         {"state", StateWord(finding.state)},
                         {"reason", finding.reason}});
    }
    nlohmann::ordered_json entry = {{"api", device.api},
                                    {"name", device.name},
                                    {"driver", device.driver},
                                    {"api_version", device.api_version},
                                    {"notes", device.notes},
                                    {"vendor_id", device.vendor_id},
                                    {"device_id", device.device_id},
                                    {"works", device.works()},
                                    {"method", MethodWords(device.method)},
                                    {"memory", MemoryWord(device.memory)},
                                    {"error", device.status.message()},
                                    {"sources", std::move(sources)}};
    devices.push_back(std::move(entry));
  }
  nlohmann::ordered_json errors = nlohmann::ordered_json::array();
  for (const ApiFailure& failure : result.failures) {
    errors.push_back({{"api", failure.api}, {"message", failure.message}});
  }
  const nlohmann::ordered_json document = {{"schema", "cairn-selftest-1"},
                                           {"devices", std::move(devices)},
                                           {"vulkan_layer", LayerJson(result.layer)},
                                           {"errors", std::move(errors)}};
  // Drivers' names need not be UTF-8.
  return JsonDocument(document);
}

int Run(const SelftestOptions& options) {
  if (!options.api.empty() && options.api != "vulkan" && options.api != "d3d12") {
    PrintError("selftest", fmt::format("--api: '{}' is neither 'vulkan' nor 'd3d12'", options.api));
    return kExitUsage;
  }
  // libvkd3d complains on stderr about every stub that the test calls on purpose.
  if (std::getenv("VKD3D_DEBUG") == nullptr) SetVariable("VKD3D_DEBUG", "none");
  SelftestResult result;
  if (options.api != "d3d12") {
    MakeVulkanLayerKnown();
    ProbeVulkan(&result);
    // Without a device of Vulkan there is no layer either, for the same reason.
    if (!result.devices.empty()) result.layer = CheckVulkanLayer();
  }
  if (options.api != "vulkan") ProbeD3D12(&result);
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
  const std::string text = options.json ? ResultJson(result) : ResultText(result);
  if (!PrintOutput("selftest", text)) return kExitFailed;
  return works ? 0 : kExitFailed;
}

}  // namespace

Verb AddSelftestVerb(CLI::App& root) {
  auto options = std::make_shared<SelftestOptions>();
  Command command(root, "selftest",
                  "Tries every way of recording breadcrumbs on every device of this machine.",
                  "cairn selftest [OPTIONS]", kExamples);
  command.Option("--api", &options->api, "API", "Test only with this API: vulkan or d3d12");
  command.Flag("--json", &options->json, "Print JSON");
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
