// SPDX-License-Identifier: Apache-2.0
#include "report/redact.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <unordered_map>

namespace cairn {
namespace {

class Redactor {
 public:
  explicit Redactor(const Snapshot& original) : original_(original), copy_(original) {}

  Snapshot Run() {
    copy_.text.clear();
    Hide(&copy_.process.program);
    Hide(&copy_.process.command_line);
    Keep(&copy_.process.library_version);
    for (Incident& incident : copy_.incidents) {
      Hide(&incident.detail);
      incident.address = 0;
    }
    for (Device& device : copy_.devices) {
      Keep(&device.name);
      Keep(&device.driver);
      Keep(&device.notes);
    }
    for (Source& source : copy_.sources) {
      Keep(&source.name);
      Keep(&source.reason);
    }
    for (Queue& queue : copy_.queues) {
      Hide(&queue.name);
      queue.native_handle = 0;
    }
    for (Pipeline& pipeline : copy_.pipelines) {
      Hide(&pipeline.name);
      for (TextRef& shader : pipeline.shader_names) Hide(&shader);
      pipeline.native_handle = 0;
    }
    for (Recording& recording : copy_.recordings) {
      Hide(&recording.name);
      recording.native_handle = 0;
    }
    for (Event& event : copy_.events) Hide(&event.name);
    for (TextRef& loss : copy_.losses) Keep(&loss);
    return std::move(copy_);
  }

 private:
  void Keep(TextRef* text) { *text = copy_.AddText(original_.Text(*text)); }

  void Hide(TextRef* text) {
    if (text->empty()) {
      *text = TextRef{};
      return;
    }
    const std::string_view name = original_.Text(*text);
    const uint64_t hash = XXH3_64bits(name.data(), name.size());
    const auto [known, is_new] = hidden_.try_emplace(hash);
    if (is_new) known->second = copy_.AddText(fmt::format("name-{:016x}", hash));
    *text = known->second;
  }

  const Snapshot& original_;
  Snapshot copy_;
  std::unordered_map<uint64_t, TextRef> hidden_;
};

}  // namespace

Snapshot Redact(const Snapshot& snapshot) {
  return Redactor(snapshot).Run();
}

}  // namespace cairn
