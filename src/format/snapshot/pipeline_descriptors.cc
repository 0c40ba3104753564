// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/pipeline_descriptors.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>

#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/spirv_descriptors.h"

namespace cairn {
namespace {

constexpr uint64_t kLargestShaderBytes = 4u << 20;

class PipelineDescriptorReader {
 public:
  PipelineDescriptorReader(const BlockReader& block, Snapshot* snapshot)
      : block_(block), snapshot_(*snapshot) {}

  void Run() {
    FindCode();
    std::vector<bool> seen(snapshot_.pipelines.size());
    for (const Recording& recording : snapshot_.recordings) {
      if (!BindsSet(recording)) continue;
      for (uint32_t e = 0; e < recording.event_count; ++e) {
        const uint32_t pipeline = snapshot_.events[recording.first_event + e].pipeline;
        if (pipeline == kNone || seen[pipeline]) continue;
        seen[pipeline] = true;
        Add(pipeline);
      }
    }
  }

 private:
  struct Code {
    uint64_t offset;
    uint64_t size_bytes;
  };

  bool BindsSet(const Recording& recording) const {
    const auto events =
        std::span(snapshot_.events).subspan(recording.first_event, recording.event_count);
    return std::any_of(events.begin(), events.end(), [this](const Event& event) {
      return event.kind == EventKind::kBind &&
             event.type == static_cast<uint16_t>(BindPoint::kDescriptorSet) &&
             snapshot_.binds[event.detail].value != 0;
    });
  }

  void FindCode() {
    for (uint32_t i = 0; i < block_.ShaderCount(); ++i) {
      const uint64_t entry = block_.shaders_offset() + uint64_t{i} * sizeof(ShaderRecord);
      if (block_.Load32(entry + offsetof(ShaderRecord, state)) != kEntryPublished) continue;
      ShaderRecord record;
      block_.Copy(entry, &record);
      if (record.code != ShaderCode::kSpirV || record.hash == 0) continue;
      code_[record.hash] = {record.offset, record.size_bytes};
    }
  }

  void Add(uint32_t index) {
    const Pipeline& pipeline = snapshot_.pipelines[index];
    if (pipeline.shader_hashes[kStageRayTracing] != 0) return;
    std::vector<ShaderDescriptor> all;
    bool has_shader = false;
    for (const uint64_t hash : pipeline.shader_hashes) {
      if (hash == 0) continue;
      has_shader = true;
      const auto found = DescriptorsOf(hash);
      if (!found) return;
      all.insert(all.end(), found->begin(), found->end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (!has_shader || all.size() > kMaxShaderDescriptors) return;
    snapshot_.pipeline_descriptors.push_back(
        {index, static_cast<uint32_t>(snapshot_.shader_descriptors.size()),
         static_cast<uint32_t>(all.size())});
    snapshot_.shader_descriptors.insert(snapshot_.shader_descriptors.end(), all.begin(), all.end());
  }

  const std::optional<std::vector<ShaderDescriptor>>& DescriptorsOf(uint64_t hash) {
    const auto [known, is_new] = descriptors_.try_emplace(hash);
    if (!is_new) return known->second;
    const auto code = code_.find(hash);
    if (code == code_.end()) return known->second;
    const auto [offset, size_bytes] = code->second;
    if (offset == 0 || offset % 4 != 0 || size_bytes > kLargestShaderBytes ||
        offset < block_.pages_offset() || !block_.Contains(offset, size_bytes)) {
      return known->second;
    }
    std::vector<uint32_t> words(size_bytes / 4);
    for (size_t i = 0; i < words.size(); ++i) words[i] = block_.Load32(offset + i * 4);
    known->second = FindSpirvDescriptors(words);
    return known->second;
  }

  const BlockReader& block_;
  Snapshot& snapshot_;
  std::unordered_map<uint64_t, Code> code_;  // by hash
  std::unordered_map<uint64_t, std::optional<std::vector<ShaderDescriptor>>> descriptors_;
};

}  // namespace

void ReadPipelineDescriptors(const BlockReader& block, Snapshot* snapshot) {
  if (snapshot->descriptor_sets.empty()) return;
  PipelineDescriptorReader(block, snapshot).Run();
}

}  // namespace cairn
