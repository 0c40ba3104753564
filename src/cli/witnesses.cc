// SPDX-License-Identifier: Apache-2.0
#include "cli/witnesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/verb.h"
#include "cli/witness_status.h"
#include "format/witness/witness_cache.h"
#include "os/child.h"
#include "os/child_status.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/new_file.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kLookNs = kSecondNs / 10;
constexpr uint64_t kMostStandstillNs = 10 * kSecondNs;
constexpr uint64_t kMostKillNs = 2 * kSecondNs;
// Each ends with a device that hangs, dies or is lost.
constexpr int kMostTries = 4;
constexpr uint64_t kMostMeasuringNs = 30 * kSecondNs;

constexpr char kWhatIsDone[] =
    "cairn: measuring at which barriers the GPU waits; once for each driver (--no-witnesses "
    "skips it)";

// ---- The cache -------------------------------------------------------------------------------------

std::string ReadAll(const std::string& path) {
  std::error_code error;
  const File file = File::Open(path, FileMode::kRead, error);
  if (error || !file.valid() || file.facts().type != fs::file_type::regular) return "";
  std::string text(std::min<uint64_t>(file.facts().size_bytes, kMostWitnessCacheBytes + 1), '\0');
  size_t read_bytes = 0;
  error = file.ReadAt(0, std::as_writable_bytes(std::span(text)), &read_bytes);
  text.resize(read_bytes);
  return error ? "" : text;
}

// Empty for anything that is no cache: it is measured anew, and replaced.
WitnessCache ReadCache(const std::string& path) {
  Result<WitnessCache> cache = ParseWitnessCache(ReadAll(path));
  return cache.ok() ? std::move(*cache) : WitnessCache();
}

// ---- Measuring -------------------------------------------------------------------------------------

class Measurement {
 public:
  Measurement(WitnessCache* cache, const std::function<void(const std::string&)>& say)
      : cache_(cache), say_(say), start_ns_(MonotonicNs()) {}

  Status Run() {
    for (int i = 0; i < kMostTries && MonotonicNs() - start_ns_ < kMostMeasuringNs; ++i) {
      const Result<bool> done = Try();
      if (!done.ok()) return done.status();
      if (*done) break;
    }
    return Status();
  }

 private:
  // False if the process ended before its time.
  Result<bool> Try() {
    Result<ChildStatus<WitnessStatus>> status =
        ChildStatus<WitnessStatus>::Create("cairn-witnesses");
    if (!status.ok()) return status.status();
    for (const DeviceWitnesses& known : cache_->devices) (*status)->Add(known);
    const size_t known_count = (*status)->Read().size();
    Result<Child> child =
        Child::Start({.purpose = "measuring barriers",
                      .arguments = {"witness-probe"},
                      // Disable layers between this process and the driver.
                      .environment = {"VK_INSTANCE_LAYERS=", "VK_LOADER_LAYERS_DISABLE=~all~"},
                      .memory = &status->memory(),
                      .silent = true});
    if (!child.ok()) return child.status();
    const bool ended = WaitForEnd(*child, **status);
    // One that is stuck in a driver is not waited for, now or by the destructor.
    if (!ended && !KillAndWait(*child, kMostKillNs)) new Child(std::move(*child));
    std::vector<DeviceWitnesses> told = (*status)->Read();
    const ProcessEnd end = ended ? child->End() : ProcessEnd();
    // abort() is an exit on Windows, with another code than its own.
    const bool exited =
        end.kind == EndKind::kExited && (end.value == 0 || end.value == kExitFailed);
    const bool died = ended && !exited;
    if (died && told.size() > known_count && told.back().outcome == WitnessOutcome::kHung) {
      told.back().outcome = WitnessOutcome::kDied;
    }
    for (DeviceWitnesses& device : told) cache_->Add(std::move(device));
    // Without new results another run would end the same way.
    return told.size() <= known_count || (end.kind == EndKind::kExited && end.value == 0);
  }

  // False if it makes no progress.
  bool WaitForEnd(const Child& child, const WitnessStatus& status) {
    uint64_t moved_ns = MonotonicNs();
    for (uint32_t steps = status.steps; !child.WaitForEnd(kLookNs);) {
      const uint64_t now_ns = MonotonicNs();
      if (!said_ && now_ns - start_ns_ >= kSecondNs) {
        said_ = true;
        say_(kWhatIsDone);
      }
      const uint32_t now_steps = status.steps;
      if (std::exchange(steps, now_steps) != now_steps) moved_ns = now_ns;
      if (now_ns - moved_ns >= kMostStandstillNs) return false;
    }
    return true;
  }

  WitnessCache* const cache_;
  const std::function<void(const std::string&)>& say_;
  const uint64_t start_ns_;
  bool said_ = false;
};

WitnessSet Nothing(std::string reason) {
  WitnessSet set;
  set.reason = std::move(reason);
  return set;
}

}  // namespace

std::string WitnessCachePath() {
  const std::string folder = CacheFolder();
  return folder.empty() ? "" : TextOfPath(FilePath(folder) / "witnesses");
}

WitnessSet FindWitnesses(const std::function<void(const std::string&)>& say) {
  const std::string path = WitnessCachePath();
  if (path.empty()) return Nothing(kNoWitnessCache);
  WitnessCache cache = ReadCache(path);
  const uint64_t machine = WitnessMachine();
  if (machine == 0) return Nothing("no driver of Vulkan is installed");
  const size_t known = cache.devices.size();
  const uint64_t now_s = RealtimeNs() / kSecondNs;
  cache.DropTransient(now_s);
  if (cache.devices.size() != known || !cache.Knows(machine)) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    File lock = File::Open(path + ".lock", FileMode::kOpenOrCreate, error);
    // Without the path: reports are shown to others.
    if (error) return Nothing("the user's cache cannot be written: " + error.message());
    if (!lock.TryLock()) return Nothing("another cairn measures it right now");
    if (const Status status = Measurement(&cache, say).Run(); !status.ok()) {
      return Nothing(status.message());
    }
    cache.Add(machine);
    const std::string text = FormatWitnessCache(cache);
    // If it fails, it is measured again.
    static_cast<void>(ReplaceFile(path, std::as_bytes(std::span(text))));
  }
  WitnessSet set;
  set.devices = std::move(cache.devices);
  // The latest are the most likely.
  std::reverse(set.devices.begin(), set.devices.end());
  return set;
}

}  // namespace cairn::cli
