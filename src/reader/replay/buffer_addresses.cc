// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/buffer_addresses.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace cairn {
namespace {

// Words that lie closer than this are read and written together.
constexpr uint64_t kMergeBytes = 256;
constexpr uint64_t kMostRunBytes = uint64_t{1} << 22;

uint64_t WordAt(const std::byte* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

// ---- What lists do -------------------------------------------------------------------------------

void BufferAddresses::AddSignature(uint64_t object, IndirectLayout layout) {
  // Most have no addresses; those that have some are few.
  if (!layout.addresses.empty()) signatures_[object] = std::move(layout);
}

void BufferAddresses::AddIdentifier(const ShaderIdentifier& recorded,
                                    const ShaderIdentifier& real) {
  identifiers_[recorded] = real;
}

void BufferAddresses::Remove(uint64_t object) {
  signatures_.erase(object);
  lists_.erase(object);
  patched_words_.erase(object);
  patched_identifiers_.erase(object);
}

void BufferAddresses::Reset(uint64_t list) {
  lists_.erase(list);
}

void BufferAddresses::Add(uint64_t list, const Step& step) {
  std::shared_ptr<Recording>& recording = lists_[list];
  if (recording == nullptr) recording = std::make_shared<Recording>();
  if (recording->executed) return;
  recording->steps.push_back(step);
  recording->consumes = recording->consumes || step.Consumes();
}

void BufferAddresses::Copy(uint64_t list, uint64_t to, uint64_t to_offset, uint64_t from,
                           uint64_t from_offset, uint64_t size_bytes) {
  Add(list, {Kind::kCopy, to, to_offset, size_bytes, from, from_offset});
}

void BufferAddresses::Indirect(uint64_t list, uint64_t signature, uint64_t buffer,
                               uint64_t offset_bytes, uint32_t max_count) {
  if (!signatures_.contains(signature)) return;
  Add(list, {Kind::kIndirect, buffer, offset_bytes, max_count, signature, 0});
}

void BufferAddresses::Instances(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                uint32_t count, bool pointers, Kept kept) {
  Add(list, {pointers ? Kind::kInstancePointers : Kind::kInstances, buffer, offset_bytes, count, 0,
             0, kept});
}

void BufferAddresses::ShaderTable(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                  uint64_t size_bytes, uint64_t stride_bytes, Kept kept) {
  Add(list, {Kind::kShaderTable, buffer, offset_bytes, size_bytes, stride_bytes, 0, kept});
}

void BufferAddresses::RootArguments(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                    uint64_t size_bytes, uint64_t stride_bytes) {
  Add(list, {Kind::kRootArguments, buffer, offset_bytes, size_bytes, stride_bytes, 0});
}

void BufferAddresses::NodeInput(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                bool several) {
  Add(list, {several ? Kind::kNodeInputs : Kind::kNodeInput, buffer, offset_bytes, 1, 0, 0});
}

void BufferAddresses::ShadersWrote(uint64_t list, uint64_t buffer) {
  Add(list, {Kind::kShadersWrote, buffer, 0, 0, 0, 0});
}

void BufferAddresses::Bundle(uint64_t list, uint64_t bundle) {
  const auto found = lists_.find(bundle);
  if (list == bundle || found == lists_.end() || !found->second->bundles.empty()) return;
  const std::shared_ptr<Recording> executed = found->second;
  std::shared_ptr<Recording>& recording = lists_[list];
  if (recording == nullptr) recording = std::make_shared<Recording>();
  if (recording->executed) return;
  executed->executed = true;
  recording->steps.push_back({Kind::kBundle, 0, 0, 0, recording->bundles.size(), 0});
  recording->bundles.push_back(executed);
  recording->consumes = recording->consumes || executed->consumes;
}

bool BufferAddresses::NeedsPatch(std::span<const uint64_t> lists) const {
  return std::any_of(lists.begin(), lists.end(), [this](uint64_t list) {
    const auto found = lists_.find(list);
    return found != lists_.end() && found->second->consumes;
  });
}

bool BufferAddresses::AddSteps(uint64_t list, std::vector<Step>* steps) const {
  const auto found = lists_.find(list);
  if (found == lists_.end()) return true;
  const Recording& recording = *found->second;
  for (const Step& step : recording.steps) {
    const std::span<const Step> added = step.kind == Kind::kBundle
                                            ? std::span(recording.bundles[step.other]->steps)
                                            : std::span(&step, 1);
    if (added.size() > kMostWords - steps->size()) return false;
    steps->insert(steps->end(), added.begin(), added.end());
  }
  return true;
}

size_t BufferAddresses::CountTogether(std::span<const uint64_t> lists, Memory* memory) const {
  if (lists.size() < 2 || !NeedsPatch(lists)) return lists.size();
  // Buffers that shaders wrote in the lists before, and copies of that.
  std::unordered_set<uint64_t> written;
  bool any = false;
  const auto is_written = [&](uint64_t buffer) {
    return written.contains(buffer) || (any && memory->IsOfShaders(buffer));
  };
  std::vector<Step> all;
  for (size_t i = 0; i < lists.size(); ++i) {
    const size_t before = all.size();
    if (!AddSteps(lists[i], &all)) return std::max<size_t>(i, 1);
    const std::span<const Step> steps = std::span(all).subspan(before);
    for (const Step& step : steps) {
      if (step.Consumes() && is_written(step.buffer)) return i;
      if (step.kind == Kind::kCopy && is_written(step.other)) written.insert(step.buffer);
    }
    for (const Step& step : steps) {
      if (step.kind == Kind::kShadersWrote && step.buffer == kAnyBuffer) any = true;
      if (step.kind == Kind::kShadersWrote) written.insert(step.buffer);
    }
    for (const Step& step : steps) {
      if (step.kind == Kind::kCopy && is_written(step.other)) written.insert(step.buffer);
    }
  }
  return lists.size();
}

// ---- Reading -------------------------------------------------------------------------------------

namespace {

// Calls `run(first, last, end_offset)` for words that lie close together in one buffer. Sorted words.
template <typename Words, typename Run>
void ForEachRun(Words& words, const Run& run) {
  for (auto first = words.begin(); first != words.end();) {
    auto last = first;
    uint64_t end = first->place.second;
    const auto [buffer, begin] = first->place;
    // A known word has bytes of its own.
    while (last != words.end() && last->place.first == buffer && last->known == first->known &&
           (last == first || !first->known) &&
           (last->place.second <= end || last->place.second - end <= kMergeBytes) &&
           last->place.second - begin <= kMostRunBytes) {
      end = std::max(end, last->place.second + last->size());
      ++last;
    }
    run(first, last, end);
    first = last;
  }
}

}  // namespace

Status BufferAddresses::ReadWords(Words* words, Memory* memory) {
  std::optional<uint64_t> buffer;
  PatchedValues<uint64_t>* patched = nullptr;  // of a buffer that only the CPU writes
  for (Word& word : *words) {
    if (buffer != word.place.first) {
      buffer = word.place.first;
      const auto found = patched_words_.find(*buffer);
      const bool has = found != patched_words_.end() && memory->IsOfCpu(*buffer);
      patched = has ? &found->second : nullptr;
    }
    if (patched == nullptr || word.size() != kWordBytes) continue;
    const auto* const entry = patched->Find(word.place.second);
    if (entry == nullptr || !entry->valid) continue;
    word.known = true;
    word.at = bytes_.size();
    const auto known = std::as_bytes(std::span(&entry->real, 1));
    bytes_.insert(bytes_.end(), known.begin(), known.end());
  }
  std::vector<Memory::Piece> pieces;
  uint64_t at = bytes_.size();
  ForEachRun(*words, [&](auto first, auto last, uint64_t end) {
    if (first->known) return;
    const uint64_t begin = first->place.second;
    for (auto word = first; word != last; ++word) word->at = at + (word->place.second - begin);
    pieces.push_back({first->place.first, begin, end - begin});
    at += end - begin;
  });
  if (pieces.empty()) return {};
  const Result<std::vector<std::byte>> read = memory->Read(pieces);
  if (!read.ok()) return read.status();
  if (read->size() != at - bytes_.size()) {
    return {StatusCode::kInternal, "buffers were read in part"};
  }
  bytes_.insert(bytes_.end(), read->begin(), read->end());
  return {};
}

uint64_t BufferAddresses::RecordedAt(const Timeline& timeline, size_t before, PlaceKey place,
                                     Memory* memory, const Words& words) {
  std::optional<PlaceKey> written;
  place = SourceOf(timeline, before, place, kWordBytes, memory, &written);
  const auto less = [](const Word& word, const PlaceKey& key) { return word.place < key; };
  const auto word = std::lower_bound(words.begin(), words.end(), place, less);
  if (word == words.end() || word->place != place) return 0;
  const uint64_t value = WordAt(bytes_.data() + word->at);
  const auto patched = patched_words_.find(place.first);
  const auto* const entry =
      patched == patched_words_.end() ? nullptr : patched->second.Find(place.second);
  return entry != nullptr && entry->valid && entry->real == value ? entry->recorded : value;
}

// ---- Patching ------------------------------------------------------------------------------------

std::optional<uint64_t> BufferAddresses::RealOf(WordKind kind, uint64_t recorded, Memory* memory) {
  if (recorded == 0) return std::nullopt;
  std::optional<uint64_t> real = memory->RealAddress(recorded);
  if (kind == WordKind::kStructure || kind == WordKind::kAddressOrDescriptor) {
    // Copies of addresses may have been made before it moved.
    const uint64_t before = real.value_or(recorded);
    if (const uint64_t now = memory->StructureAt(before); now != before) return now;
  }
  if (!real && kind == WordKind::kAddressOrDescriptor) real = memory->RealDescriptor(recorded);
  return real;
}

// The values that a submission adds to those of one buffer.
struct BufferAddresses::Added {
  std::vector<PatchedValues<uint64_t>::Entry> words;
  std::vector<PatchedValues<ShaderIdentifier>::Entry> identifiers;
};

namespace {

// Returns the entry of a value that was replaced, and is still there; null: there is none.
template <typename Value>
typename PatchedValues<Value>::Entry* EntryOf(
    std::unordered_map<uint64_t, PatchedValues<Value>>& patched, uint64_t buffer, uint64_t offset,
    const std::byte* bytes) {
  const auto found = patched.find(buffer);
  auto* const entry = found == patched.end() ? nullptr : found->second.Find(offset);
  const bool there =
      entry != nullptr && entry->valid && std::memcmp(&entry->real, bytes, sizeof(Value)) == 0;
  return there ? entry : nullptr;
}

// Returns the entry of `bytes` that become null. Only the CPU writes the buffer: what it writes next may be a part.
template <typename Value>
typename PatchedValues<Value>::Entry NullEntry(
    std::unordered_map<uint64_t, PatchedValues<Value>>& patched, uint64_t buffer, uint64_t offset,
    const std::byte* bytes) {
  typename PatchedValues<Value>::Entry entry = {offset, {}, {}, true};
  const auto* const before = EntryOf(patched, buffer, offset, bytes);
  std::memcpy(&entry.recorded, bytes, sizeof(Value));
  if (before != nullptr) entry.recorded = before->recorded;
  return entry;
}

}  // namespace

// A zero in a buffer that others write may be theirs when it is next read: nothing is known of it then.
bool BufferAddresses::MakeNull(const Word& word, std::byte* bytes, Memory* memory, Added* added) {
  const auto [buffer, offset] = word.place;
  if (!memory->IsOfCpu(buffer)) {
    Overwrite(buffer, offset, word.size(), [](uint64_t, std::span<const std::byte>) {});
  } else if (word.size() == kWordBytes) {
    added->words.push_back(NullEntry(patched_words_, buffer, offset, bytes));
  } else {
    added->identifiers.push_back(NullEntry(patched_identifiers_, buffer, offset, bytes));
  }
  std::memset(bytes, 0, word.size());
  return true;
}

bool BufferAddresses::PatchIdentifier(const Word& word, std::byte* bytes, Added* added) {
  const auto [buffer, offset] = word.place;
  ShaderIdentifier value;
  std::memcpy(value.data(), bytes, kIdentifierBytes);
  const auto* const entry = EntryOf(patched_identifiers_, buffer, offset, bytes);
  const ShaderIdentifier recorded = entry == nullptr ? value : entry->recorded;
  const auto found = identifiers_.find(recorded);
  if (found == identifiers_.end() || found->second == value) return false;
  std::memcpy(bytes, found->second.data(), kIdentifierBytes);
  added->identifiers.push_back({offset, recorded, found->second, true});
  return true;
}

bool BufferAddresses::PatchWord(const Word& word, std::byte* bytes, Memory* memory, Added* added) {
  const auto [buffer, offset] = word.place;
  if (word.kind == WordKind::kValue) return false;
  if (IsNull(word.kind)) return MakeNull(word, bytes, memory, added);
  if (word.kind == WordKind::kIdentifier) return PatchIdentifier(word, bytes, added);
  const uint64_t value = WordAt(bytes);
  const auto patched = patched_words_.find(buffer);
  auto* const entry = patched == patched_words_.end() ? nullptr : patched->second.Find(offset);
  // Patched before, and not written since: recorded and real addresses may overlap.
  const bool known = entry != nullptr && entry->valid && entry->real == value;
  const uint64_t recorded = known ? entry->recorded : value;
  const std::optional<uint64_t> found = RealOf(word.kind, recorded, memory);
  const uint64_t real = found.value_or(value);
  if (!found && !memory->IsOfCpu(buffer)) {
    if (entry != nullptr) entry->valid = false;
  } else if (entry != nullptr) {
    *entry = {offset, recorded, real, true};
  } else {
    added->words.push_back({offset, recorded, real, true});
  }
  if (real == value) return false;
  std::memcpy(bytes, &real, sizeof(real));
  return true;
}

Status BufferAddresses::PatchWords(const Words& words, Memory* memory) {
  std::vector<Memory::Piece> pieces;
  std::vector<std::byte> changed;
  Added added;
  const auto keep = [&](uint64_t buffer) {
    if (!added.words.empty()) patched_words_[buffer].Add(added.words);
    if (!added.identifiers.empty()) patched_identifiers_[buffer].Add(added.identifiers);
    added.words.clear();
    added.identifiers.clear();
  };
  uint64_t buffer = words.empty() ? 0 : words.front().place.first;
  ForEachRun(words, [&](auto first, auto last, uint64_t end) {
    if (first->place.first != buffer) keep(std::exchange(buffer, first->place.first));
    const uint64_t begin = first->place.second;
    uint64_t changed_begin = end;
    uint64_t changed_end = begin;
    for (auto word = first; word != last; ++word) {
      if (!PatchWord(*word, bytes_.data() + word->at, memory, &added)) continue;
      ++patched_;
      changed_begin = std::min(changed_begin, word->place.second);
      changed_end = std::max(changed_end, word->place.second + word->size());
    }
    if (changed_begin >= changed_end) return;
    pieces.push_back({buffer, changed_begin, changed_end - changed_begin});
    const std::span<const std::byte> run = std::span(bytes_).subspan(first->at, end - begin);
    const auto part = run.subspan(changed_begin - begin, changed_end - changed_begin);
    changed.insert(changed.end(), part.begin(), part.end());
  });
  keep(buffer);
  const Status status = pieces.empty() ? Status() : memory->Write(pieces, changed);
  if (!status.ok()) {
    // Nobody knows what they hold: they are read before they are used again.
    for (const Memory::Piece& piece : pieces) {
      Overwrite(piece.buffer, piece.offset_bytes, piece.size_bytes,
                [](uint64_t, std::span<const std::byte>) {});
    }
  }
  return status;
}

Status BufferAddresses::Patch(std::span<const uint64_t> lists, Memory* memory) {
  written_.clear();
  bytes_.clear();
  attempts_ = 0;
  missed_elements_ = false;
  if (!NeedsPatch(lists)) return {};
  const Result<Timeline> all = TimelineOf(lists);
  if (!all.ok()) return all.status();
  const Timeline& timeline = *all;
  Words words;
  CAIRN_RETURN_IF_ERROR(Collect(timeline, memory, &words));
  Sort(&words);
  CAIRN_RETURN_IF_ERROR(ReadWords(&words, memory));
  Words behind;
  CAIRN_RETURN_IF_ERROR(CollectBehind(timeline, memory, words, &behind));
  if (!behind.empty()) {
    // All of them are read once more: what lies close together is written together.
    words.insert(words.end(), behind.begin(), behind.end());
    for (Word& word : words) word.known = false;
    bytes_.clear();
    Sort(&words);
    CAIRN_RETURN_IF_ERROR(ReadWords(&words, memory));
  }
  return PatchWords(words, memory);
}

// ---- Back ----------------------------------------------------------------------------------------

namespace {

// Returns the recorded value of one at no place that is known to be patched; nullopt: it may be either.
// `means_something`: as a recorded value.
template <typename Value>
std::optional<Value> RecordedOf(const std::unordered_map<uint64_t, PatchedValues<Value>>& patched,
                                const Value& value, bool means_something) {
  std::optional<Value> recorded;
  bool several = false;
  for (const auto& [buffer, values] : patched) {
    values.ForEach([&](const auto& entry) {
      if (entry.real != value || entry.real == Value{}) return;
      several = several || (recorded && *recorded != entry.recorded);
      recorded = entry.recorded;
    });
  }
  if (!recorded || *recorded == value) return several ? std::nullopt : std::optional(value);
  if (several || means_something) return std::nullopt;
  return recorded;
}

}  // namespace

bool BufferAddresses::MapBack(uint64_t buffer, uint64_t offset_bytes, Memory* memory,
                              std::span<std::byte> bytes) {
  if (bytes.size() == kIdentifierBytes) {
    ShaderIdentifier value;
    std::memcpy(value.data(), bytes.data(), kIdentifierBytes);
    std::optional<ShaderIdentifier> recorded;
    if (auto* const entry = EntryOf(patched_identifiers_, buffer, offset_bytes, bytes.data())) {
      recorded = entry->recorded;
    } else {
      recorded = RecordedOf(patched_identifiers_, value, identifiers_.contains(value));
    }
    if (!recorded) return false;
    if (*recorded != value) {
      std::memcpy(bytes.data(), recorded->data(), kIdentifierBytes);
      return true;
    }
  }
  // Those of an ExecuteIndirect have only this alignment.
  constexpr uint64_t kStep = sizeof(uint32_t);
  for (uint64_t at = 0; at + kWordBytes <= bytes.size(); at += kStep) {
    std::byte* const word = bytes.data() + at;
    std::optional<uint64_t> recorded;
    if (auto* const entry = EntryOf(patched_words_, buffer, offset_bytes + at, word)) {
      recorded = entry->recorded;
    } else {
      const uint64_t value = WordAt(word);
      recorded = RecordedOf(patched_words_, value, memory->RealAddress(value).has_value());
    }
    if (!recorded) return false;
    if (*recorded == WordAt(word)) continue;
    std::memcpy(word, &*recorded, kWordBytes);
    at += kWordBytes - kStep;
  }
  return true;
}

// ---- What shaders wrote --------------------------------------------------------------------------

bool BufferAddresses::IsStale(const Word& word, const std::byte* bytes, Memory* memory) const {
  if (word.kind == WordKind::kIdentifier) {
    ShaderIdentifier identifier;
    std::memcpy(identifier.data(), bytes, kIdentifierBytes);
    const auto found = identifiers_.find(identifier);
    return found != identifiers_.end() && found->second != identifier;
  }
  const uint64_t value = WordAt(bytes);
  const std::optional<uint64_t> real = RealOf(word.kind, value, memory);
  return real && *real != value;
}

Result<uint64_t> BufferAddresses::CountStale(Memory* memory) {
  if (written_.empty()) return uint64_t{0};
  Words words = std::move(written_);
  written_.clear();
  bytes_.clear();
  Sort(&words);
  CAIRN_RETURN_IF_ERROR(ReadWords(&words, memory));
  // Shaders pass on addresses that were patched before, too: these are of this device.
  std::unordered_set<uint64_t> reals;
  for (const auto& [buffer, values] : patched_words_) {
    values.ForEach([&](const auto& entry) { reals.insert(entry.real); });
  }
  uint64_t count = 0;
  for (const Word& word : words) {
    const std::byte* const bytes = bytes_.data() + word.at;
    if (word.kind != WordKind::kIdentifier && reals.contains(WordAt(bytes))) continue;
    if (IsStale(word, bytes, memory)) ++count;
  }
  return count;
}

}  // namespace cairn
