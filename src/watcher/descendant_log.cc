// SPDX-License-Identifier: Apache-2.0
#include "watcher/descendant_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/program_name.h"
#include "base/text.h"
#include "format/settings/layer_settings.h"

namespace cairn {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kFirstLookNs = 20 * kMillisecond;
constexpr uint64_t kSeldomNs = 500 * kMillisecond;
constexpr uint64_t kLongestWaitNs = 4000 * kMillisecond;

// Longer command lines are not shown in full: those of browsers have some thousand bytes.
constexpr size_t kMostLineBytes = 400;

constexpr std::string_view kLayer = "VK_LAYER_CAIRN_breadcrumbs";
constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kLayers[] = "VK_INSTANCE_LAYERS=";
constexpr char kDisabled[] = "VK_LOADER_LAYERS_DISABLE=";
constexpr char kImplicit[] = "CAIRN_ENABLE_VULKAN_LAYER=";
constexpr char kImplicitDisabled[] = "CAIRN_DISABLE_VULKAN_LAYER=";

std::string_view Value(const ProcessLook& look, std::string_view name) {
  for (const std::string& entry : look.environment) {
    if (entry.starts_with(name)) return std::string_view(entry).substr(name.size());
  }
  return {};
}

bool Has(const ProcessLook& look, const std::string& entry) {
  return std::find(look.environment.begin(), look.environment.end(), entry) !=
         look.environment.end();
}

bool UsesGpu(const ProcessLook& look) {
  return look.gpu != GpuLibrary::kNone;
}

// These servers end by themselves, some seconds after the last program.
bool IsServerOfWine(std::string_view program) {
  constexpr std::array<std::string_view, 9> kServers = {
      "wineserver",   "wineserver64", "services.exe", "winedevice.exe", "plugplay.exe",
      "explorer.exe", "svchost.exe",  "rpcss.exe",    "conhost.exe"};
  const std::string_view name = NameOfProgram(program);
  return std::find(kServers.begin(), kServers.end(), name) != kServers.end();
}

std::string NameOf(const ProcessLook& look, ProcessId id) {
  const std::string_view name = NameOfProgram(look.program);
  return fmt::format("{} (process {})", VisibleText(name.empty() ? "a program" : name), id);
}

std::string Joined(const std::vector<std::string>& words, size_t first, size_t end) {
  std::string line;
  for (size_t i = first; i < end; ++i) line += (line.empty() ? "" : " ") + ShellQuoted(words[i]);
  return line;
}

bool HasBreadcrumbsOff(const ProcessLook& look) {
  return Has(look, FormatSetting<&LayerSettings::breadcrumbs>(MarkerMode::kOff));
}

// True in a container that hides the library's folder: the loader looks for the installed manifest there.
bool UsesManifest(const ProcessLook& look) {
  return !look.library_in_reach && !Value(look, kImplicit).empty();
}

// The entry that disables the layer; "" if none does. Returns a part of `look`.
std::string_view DisablingEntry(const ProcessLook& look) {
  for (const std::string_view name : {kDisabled, kImplicitDisabled}) {
    if (name == kImplicitDisabled && !UsesManifest(look)) continue;
    const std::string_view value = Value(look, name);
    if (!value.empty()) return {value.data() - name.size(), name.size() + value.size()};
  }
  return {};
}

// `hidden`: the reason if the container does not show the manifest.
Unfollowed WhyWithManifest(const ProcessLook& look, Unfollowed hidden) {
  if (HasBreadcrumbsOff(look)) return Unfollowed::kBreadcrumbsOff;
  if (!DisablingEntry(look).empty()) return Unfollowed::kLayerDisabled;
  return look.has_manifest ? Unfollowed::kNot : hidden;
}

Unfollowed WhyWithLibrary(const ProcessLook& look) {
  if (look.has_capabilities || look.is_secure) return Unfollowed::kMoreRights;
  if (UsesGpu(look) && look.is_out_of_reach) return Unfollowed::kOutOfReach;
  switch (look.gpu) {
    case GpuLibrary::kDriver: return Unfollowed::kDriverAlone;
    case GpuLibrary::kOpenGl: return Unfollowed::kOpenGl;
    case GpuLibrary::kVulkan: break;
    case GpuLibrary::kNone:
    case GpuLibrary::kDirect3D: return Unfollowed::kNot;
  }
  if (!look.environment_known) return Unfollowed::kNot;
  if (UsesManifest(look)) return WhyWithManifest(look, Unfollowed::kManifestHidden);
  if (HasBreadcrumbsOff(look)) return Unfollowed::kBreadcrumbsOff;
  if (Value(look, kLayers).find(kLayer) == std::string_view::npos) return Unfollowed::kOtherLayers;
  return DisablingEntry(look).empty() ? Unfollowed::kNot : Unfollowed::kLayerDisabled;
}

}  // namespace

Unfollowed WhyUnfollowed(const ProcessLook& look, const RunFacts& run) {
  if (look.program.empty()) return Unfollowed::kNot;
  if (run.library.empty()) return UsesGpu(look) ? Unfollowed::kNoLayer : Unfollowed::kNot;
  if (look.has_library) return WhyWithLibrary(look);
  if (look.is_setuid || look.has_capabilities || look.is_secure) return Unfollowed::kMoreRights;
  if (!look.environment_known) {
    return look.same_user ? Unfollowed::kNot : Unfollowed::kOtherUser;
  }
  if (look.is_32_bit) return Unfollowed::kIs32Bit;
  if (look.is_static) return Unfollowed::kIsStatic;
  if (!Has(look, run.address)) {
    return look.same_user ? Unfollowed::kNoEnvironment : Unfollowed::kOtherUser;
  }
  if (UsesManifest(look)) return WhyWithManifest(look, Unfollowed::kLibraryHidden);
  if (!look.library_in_reach) return Unfollowed::kLibraryHidden;
  if (Value(look, kPreload).find(run.library) == std::string_view::npos) {
    return Unfollowed::kOtherPreload;
  }
  return Unfollowed::kNot;
}

LookFor DescendantLog::wanted() const {
  const std::string address_name = run_.address.substr(0, run_.address.find('=') + 1);
  const std::string breadcrumbs = std::string(kVariableOf<&LayerSettings::breadcrumbs>) + "=";
  return {run_.library,
          std::string(kLayer),
          {address_name, kPreload, kLayers, kDisabled, kImplicit, kImplicitDisabled, breadcrumbs}};
}

void DescendantLog::See(const std::vector<Descendant>& living, uint64_t now_ns,
                        const std::function<ProcessLook(ProcessId id)>& look) {
  std::set<ProcessId> seen;
  for (const Descendant& process : living) {
    if (session_ < 0) session_ = process.session;
    const auto found = known_.find(process.id);
    if (found == known_.end() && known_.size() >= kMostKept) {
      ++others_;
      continue;
    }
    seen.insert(process.id);
    Known& known = known_[process.id];
    if (known.process.started != process.started) known = Known();
    known.process = process;
    known.alive = !process.ended;
    if (process.ended || now_ns - known.looked_ns < known.wait_ns) continue;
    known.looked_ns = now_ns;
    known.wait_ns = std::clamp(2 * known.wait_ns, kFirstLookNs, kLongestWaitNs);
    ProcessLook newest = look(process.id);
    // The process may have ended meanwhile.
    if (!newest.program.empty()) known.look = std::move(newest);
  }
  for (auto& [id, known] : known_) known.alive = known.alive && seen.contains(id);
  interval_ns_ = std::clamp(2 * interval_ns_, kFirstLookNs, kSeldomNs);
  next_look_ns_ = now_ns + interval_ns_;
}

void DescendantLog::NoteCost(uint64_t now_ns, uint64_t cost_ns) {
  next_look_ns_ = std::max(next_look_ns_, now_ns + 20 * cost_ns);
}

const ProcessLook* DescendantLog::LookOf(ProcessId id) const {
  const auto found = known_.find(id);
  return found == known_.end() ? nullptr : &found->second.look;
}

std::vector<std::string> DescendantLog::Awaited(const Awaiting& awaiting, uint64_t now_ns) const {
  std::vector<std::string> names;
  const std::vector<ProcessId>& without = awaiting.without;
  for (const auto& [id, known] : known_) {
    if (std::find(without.begin(), without.end(), id) != without.end()) continue;
    if (!known.alive || IsServerOfWine(known.look.program)) continue;
    const bool awaited = known.look.gpu >= GpuLibrary::kDriver ||
                         (!awaiting.had_work && known.process.session == session_) ||
                         now_ns - awaiting.ended_ns < kGraceNs;
    if (awaited) names.push_back(NameOf(known.look, id));
  }
  return names;
}

std::vector<std::string> DescendantLog::TellUnfollowed() const {
  std::vector<std::string> told;
  for (const bool with_gpu : {true, false}) {
    size_t more = 0;
    for (const auto& [id, known] : known_) {
      if (UsesGpu(known.look) != with_gpu) continue;
      if (!with_gpu && WhyUnfollowed(known.look, run_) == Unfollowed::kNot) continue;
      if (told.size() < kMostTold) {
        told.push_back(Sentence(known));
      } else {
        ++more;
      }
    }
    if (more != 0) told.push_back(fmt::format("the same holds for {} more", more));
    if (!told.empty()) return told;
  }
  return told;
}

std::string DescendantLog::Sentence(const Known& known) const {
  const std::string name = NameOf(known.look, known.process.id);
  const std::string loaded =
      UsesGpu(known.look) ? fmt::format(" loaded {}", VisibleText(known.look.gpu_library)) : "";
  if (WhyUnfollowed(known.look, run_) == Unfollowed::kNot) {
    return name + loaded +
           (UsesGpu(known.look) ? ", and created no device that Cairn follows" : " ran");
  }
  return fmt::format("{}{}{} was not followed: {}", name, loaded, loaded.empty() ? "" : " and",
                     CauseOf(known));
}

std::string DescendantLog::CauseOf(const Known& known) const {
  const std::string folder = run_.library.substr(0, run_.library.rfind('/'));
  const std::string file = std::string(NameOfProgram(known.look.program));
  switch (WhyUnfollowed(known.look, run_)) {
    case Unfollowed::kNot: return "";
    case Unfollowed::kNoLayer:
      return "it was started without the layer: remove --no-layer, or see the warning above"
             " that says why there is none";
    case Unfollowed::kOtherUser:
      return fmt::format("user {} runs it{}; type: {}", known.look.user_id, LostBy(known),
                         LineToType(known));
    case Unfollowed::kMoreRights:
      return fmt::format(
          "it has more rights than its user ({}), and the system keeps other libraries out; type: "
          "cp {} {} && sudo {} run -- {}",
          known.look.has_capabilities ? "file capabilities" : "setuid or setgid",
          VisibleText(ShellQuoted(known.look.program)), VisibleText(ShellQuoted("/tmp/" + file)),
          run_.cairn, VisibleText(ShellQuoted("/tmp/" + file)));
    case Unfollowed::kNoEnvironment:
      return fmt::format("its environment was emptied before it started{}; type: {}", LostBy(known),
                         LineToType(known));
    case Unfollowed::kLibraryHidden:
      return fmt::format(
          "its container does not show {}; show that folder in it, read-only: bwrap --ro-bind {} "
          "{}, podman -v {}:{}:ro",
          run_.library, folder, folder, folder, folder);
    case Unfollowed::kManifestHidden:
      return "the Vulkan loader in its container did not load the layer; if Cairn's package is not "
             "installed there, install it: containers of games take its manifest from "
             "/usr/share/vulkan/implicit_layer.d";
    case Unfollowed::kOutOfReach:
      return "its container has a network and processes of its own, from where cairn cannot be "
             "reached; share one of them: podman --network host, or --pid host";
    case Unfollowed::kIs32Bit:
      return "it is a program of 32 bits, which no library of 64 bits can be loaded into";
    case Unfollowed::kIsStatic:
      return "it is linked statically, so that no library is loaded into it; link it dynamically";
    case Unfollowed::kOtherPreload:
      return fmt::format("LD_PRELOAD was overwritten{}; type: {}", LostBy(known),
                         LineToType(known));
    case Unfollowed::kOtherLayers:
      return fmt::format("VK_INSTANCE_LAYERS was overwritten{}, without {}; type: {}",
                         LostBy(known), kLayer, LineToType(known));
    case Unfollowed::kLayerDisabled:
      return fmt::format("{} disables {}; unset it", VisibleText(DisablingEntry(known.look)),
                         kLayer);
    case Unfollowed::kBreadcrumbsOff:
      return "breadcrumbs are off (--breadcrumbs off, CAIRN_BREADCRUMBS), and then Cairn records "
             "nothing of Vulkan; turn them on";
    case Unfollowed::kDriverAlone:
      return "it opened the driver itself, without the Vulkan loader, and layers are the loader's; "
             "let it open libvulkan.so.1";
    case Unfollowed::kOpenGl: return "OpenGL is not followed";
  }
  return "";
}

// Returns the command to type, with cairn behind the launcher, if that was typed, too.
std::string DescendantLog::LineToType(const Known& known) const {
  const std::string_view name = NameOfProgram(known.look.program);
  for (size_t i = 1; i < run_.arguments.size(); ++i) {
    if (NameOfProgram(run_.arguments[i]) != name) continue;
    return fmt::format("{} {} run -- {}", Joined(run_.arguments, 0, i), run_.cairn,
                       Joined(run_.arguments, i, run_.arguments.size()));
  }
  const std::vector<std::string>& words = known.look.arguments;
  std::string line = Joined(words, 0, words.size());
  if (line.size() > kMostLineBytes) line = ShellQuoted(words.front()) + " ...";
  return fmt::format("{} run -- {}", run_.cairn, VisibleText(line));
}

std::string DescendantLog::LostBy(const Known& known) const {
  ProcessId at = known.process.parent;
  for (size_t steps = 0; steps < known_.size(); ++steps) {
    const auto found = known_.find(at);
    if (found == known_.end()) break;
    if (Has(found->second.look, run_.address)) {
      return fmt::format(", by {}", NameOf(found->second.look, at));
    }
    at = found->second.process.parent;
  }
  return "";
}

// Looks at the program's file: nothing else is known of a process that ended before it was looked at.
std::string DescendantLog::TellOfFile() const {
  Known known;
  known.look = run_.file;
  // It had what it was started with.
  known.look.environment_known = true;
  known.look.environment = {run_.address, std::string(kPreload) + run_.library};
  const std::string name = VisibleText(NameOfProgram(run_.arguments.front()));
  if (WhyUnfollowed(known.look, run_) != Unfollowed::kNot) {
    return fmt::format("{} was not followed: {}", name, CauseOf(known));
  }
  return fmt::format(
      "{} ended at once, and no device of Vulkan or Direct3D 12 was seen; if it only starts your "
      "program, type: {} run -- YOUR-PROGRAM",
      name, run_.cairn);
}

std::string DescendantLog::TellWhoRan() const {
  std::string names;
  size_t count = 0;
  for (const auto& [id, known] : known_) {
    if (known.look.program.empty()) continue;
    if (++count <= kMostTold) names += (names.empty() ? "" : ", ") + NameOf(known.look, id);
  }
  if (count == 0) return TellOfFile();
  count += others_;
  if (count > kMostTold) names += fmt::format(" and {} more", count - kMostTold);
  return names + " loaded neither Vulkan nor Direct3D 12";
}

}  // namespace cairn
