// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/elimination.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "format/elimination/work_key.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"
#include "os/standard_error.h"

namespace cairn {
namespace {

// Lives as long as the process: lists are recorded until its end.
struct MappedElimination {
  SharedMemory memory;
  Elimination elimination;
};

Elimination* OpenOfProcess() {
  const Setting<std::string> path = ReadSetting<&LayerSettings::elimination>(OwnVariable);
  if (path->empty()) return nullptr;
  Result<SharedMemory> memory = SharedMemory::MapPathForWriting(*path);
  Status status = memory.status();
  if (memory.ok()) {
    const Result<Board> board = Board::Over({memory->data(), memory->size_bytes()});
    status = board.status();
    if (board.ok()) {
      auto* const kept = new MappedElimination{std::move(*memory), Elimination(*board)};
      return &kept->elimination;
    }
  }
  WriteStandardError("cairn: no work is skipped, " +
                     std::string(kVariableOf<&LayerSettings::elimination>) +
                     " cannot be used: " + status.message() + "\n");
  return nullptr;
}

std::string_view NameAt(const BlockWriter& block, NameRef name) {
  if (name == 0) return {};
  const NameRecord* const record = block.Name(name);
  return {record->bytes, record->length_bytes};
}

const PipelineRecord* RecordOf(const BlockWriter& block, CairnPipeline pipeline) {
  if (pipeline == 0 || pipeline > block.header()->pipeline_count.load()) return nullptr;
  const PipelineRecord& record = block.pipelines()[pipeline - 1];
  return IsPublished(record.state) ? &record : nullptr;
}

// Hashes the names and the shaders' code: handles and numbers differ from run to run.
uint64_t HashOf(const BlockWriter& block, const PipelineRecord* record) {
  if (record == nullptr) return 0;
  uint64_t hash = MixedWith(0, NameAt(block, record->name));
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    hash = MixedWith(hash, NameAt(block, record->shader_names[stage]));
    hash = MixedWith(hash, record->shader_hashes[stage]);
  }
  return hash;
}

// "Integrate [FillCS]"
std::string TextOf(const BlockWriter& block, const PipelineRecord* record) {
  if (record == nullptr) return "";
  std::string text(NameAt(block, record->name));
  std::string shaders;
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    const std::string_view name = NameAt(block, record->shader_names[stage]);
    if (name.empty()) continue;
    if (!shaders.empty()) shaders += ", ";
    shaders += name;
  }
  if (shaders.empty()) return text;
  if (text.empty()) return shaders;
  return text + " [" + shaders + "]";
}

}  // namespace

Elimination* Elimination::Active() {
  static Elimination* const active = OpenOfProcess();
  return active;
}

TextOffset Elimination::TextOnce(uint64_t hash, std::string_view text) {
  if (text.empty()) return 0;
  const auto [known, is_new] = texts_.try_emplace(hash, 0);
  if (is_new) known->second = board_.AddText(text);
  return known->second;
}

WorkEntry* Elimination::Note(const Work& work, BlockWriter& block) {
  bool is_new = false;
  WorkEntry* const entry = board_.FindOrAdd(work.key, &is_new);
  if (entry == nullptr) {
    board_.header().dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (!is_new) return entry;
  const std::string pipeline = TextOf(block, RecordOf(block, work.pipeline));
  const std::lock_guard lock(mutex_);
  entry->scope = work.scope;
  entry->group = work.group;
  entry->type = work.type;
  entry->ordinal = work.ordinal;
  entry->path = TextOnce(work.scope, work.path);
  entry->pipeline = TextOnce(work.pipeline_hash, pipeline);
  entry->ready.store(1, std::memory_order_release);
  return entry;
}

void Elimination::NoteDevice(std::string_view name) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::find(devices_.begin(), devices_.end(), name) != devices_.end()) return;
  try {
    devices_.emplace_back(name);
    std::string names;
    for (const std::string& device : devices_) {
      if (!names.empty()) names += kPathSeparator;
      names += device;
    }
    board_.header().devices.store(board_.AddText(names), std::memory_order_release);
  } catch (const std::bad_alloc&) {
    // Unknown, then.
  }
}

void ListElimination::Start() noexcept {
  run_.board().header().lists.fetch_add(1, std::memory_order_relaxed);
  broken_ = false;
  scopes_.clear();
  path_.clear();
  ordinals_.clear();
  recorded_.clear();
}

void ListElimination::Begin(std::string_view name) noexcept {
  if (broken_) return;
  try {
    const uint64_t outer = scopes_.empty() ? kRootScope : scopes_.back().hash;
    // Names may be of any length; what they hold of the path is for people.
    const std::string label = WithoutNumbers(name);
    scopes_.push_back({ScopeIn(outer, label), path_.size()});
    if (label.empty()) return;
    if (!path_.empty()) path_ += kPathSeparator;
    path_ += std::string_view(label).substr(0, kMaxBoardText);
  } catch (const std::bad_alloc&) {
    broken_ = true;
  }
}

void ListElimination::End() noexcept {
  if (broken_ || scopes_.empty()) return;
  path_.resize(scopes_.back().path_bytes);
  scopes_.pop_back();
}

bool ListElimination::LeavesOut(CairnMarkerType type, CairnPipeline pipeline,
                                BlockWriter& block) noexcept {
  if (broken_) return false;
  try {
    return Decide(type, pipeline, block);
  } catch (const std::bad_alloc&) {
    broken_ = true;
    return false;
  }
}

bool ListElimination::Decide(CairnMarkerType type, CairnPipeline pipeline, BlockWriter& block) {
  const LeaveOutClass work_class = LeaveOutClassOf(type);
  if (work_class == LeaveOutClass::kStays) return false;
  // Copies and clears do not depend on bindings.
  if (work_class == LeaveOutClass::kCopy) pipeline = 0;
  const uint64_t pipeline_hash = HashOf(block, RecordOf(block, pipeline));
  const uint64_t scope = scopes_.empty() ? kRootScope : scopes_.back().hash;
  const uint64_t group = GroupIn(scope, type, pipeline_hash);
  const uint32_t ordinal = ++ordinals_[group];
  const uint64_t key = KeyIn(group, ordinal);
  const Board& board = run_.board();
  WorkEntry* const entry =
      run_.Note({key, scope, group, type, ordinal, path_, pipeline, pipeline_hash}, block);
  if (entry != nullptr) entry->recorded.fetch_add(1, std::memory_order_relaxed);
  if (board.LeavesOut(work_class, scope, group, key)) {
    board.header().left_out.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  if (entry != nullptr) recorded_.push_back(entry);
  return false;
}

void ListElimination::Submitted() noexcept {
  const uint64_t number =
      run_.board().header().submissions.fetch_add(1, std::memory_order_relaxed) + 1;
  uint32_t position = 0;
  for (WorkEntry* const entry : recorded_) {
    entry->submitted.fetch_add(1, std::memory_order_relaxed);
    entry->last_position.store(++position, std::memory_order_relaxed);
    uint64_t last = entry->last_submission.load(std::memory_order_relaxed);
    while (last < number &&
           !entry->last_submission.compare_exchange_weak(last, number, std::memory_order_relaxed)) {
    }
  }
}

}  // namespace cairn
