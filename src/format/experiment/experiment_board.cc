// SPDX-License-Identifier: Apache-2.0
#include "format/experiment/experiment_board.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace cairn {
namespace {

constexpr uint32_t kMagic = 0x504F4F4C;  // "LOOP"
constexpr uint32_t kVersion = 2;
constexpr size_t kLengthBytes = 2;  // in front of a text
// The first bytes of the texts stay unused: offset 0 means that there is no text.
constexpr uint32_t kFirstText = kLengthBytes;

Status Damaged(const char* what) {
  return Status(StatusCode::kCorrupt, std::string("the board of loops is damaged: ") + what);
}

constexpr size_t RoundUp(size_t bytes) {
  constexpr size_t kStep = ExperimentBoard::kRecordAlignment;
  return (bytes + kStep - 1) / kStep * kStep;
}

InvocationKind KnownKind(uint32_t kind) {
  return kind <= static_cast<uint32_t>(InvocationKind::kLaunch) ? static_cast<InvocationKind>(kind)
                                                                : InvocationKind::kUnknown;
}

AccessKind KnownAccess(uint32_t kind) {
  return kind <= static_cast<uint32_t>(AccessKind::kAtomic) ? static_cast<AccessKind>(kind)
                                                            : AccessKind::kLoad;
}

IndexKind KnownIndex(uint32_t kind) {
  return kind <= static_cast<uint32_t>(IndexKind::kElement) ? static_cast<IndexKind>(kind)
                                                            : IndexKind::kNone;
}

BindingKind KnownBinding(uint32_t kind) {
  return kind < static_cast<uint32_t>(BindingKind::kUnknown) ? static_cast<BindingKind>(kind)
                                                             : BindingKind::kUnknown;
}

BindingPlace::From KnownFrom(uint32_t from) {
  return from <= static_cast<uint32_t>(BindingPlace::From::kVertexInput)
             ? static_cast<BindingPlace::From>(from)
             : BindingPlace::From::kNone;
}

// Returns the offset of the text; 0 for an empty one, and where there is no room.
uint32_t AddText(std::atomic<uint32_t>& used, std::span<std::byte> texts, std::string_view text,
                 size_t most = ExperimentBoard::kMostTextLength) {
  const std::string_view kept = Utf8Prefix(text, most);
  if (kept.empty()) return 0;
  const size_t bytes = kLengthBytes + kept.size();
  uint32_t at = used.load(std::memory_order_relaxed);
  do {
    if (at < kFirstText || at > texts.size() || texts.size() - at < bytes) return 0;
  } while (!used.compare_exchange_weak(at, at + static_cast<uint32_t>(bytes),
                                       std::memory_order_relaxed));
  const auto length = static_cast<uint16_t>(kept.size());
  std::memcpy(texts.data() + at, &length, sizeof(length));
  std::memcpy(texts.data() + at + kLengthBytes, kept.data(), kept.size());
  return at;
}

std::string TextAt(std::span<const std::byte> texts, uint32_t at,
                   size_t most = ExperimentBoard::kMostTextLength) {
  if (at < kFirstText || at > texts.size() || texts.size() - at < kLengthBytes) return "";
  uint16_t length = 0;
  std::memcpy(&length, texts.data() + at, sizeof(length));
  if (length > most || texts.size() - at - kLengthBytes < length) return "";
  return {reinterpret_cast<const char*>(texts.data()) + at + kLengthBytes, length};
}

}  // namespace

struct ExperimentBoard::Header {
  uint32_t magic;
  uint32_t version;
  uint32_t loop_count;
  uint32_t text_bytes;
  std::atomic<uint32_t> reserved;   // loops
  std::atomic<uint32_t> text_used;  // from kFirstText on
  std::atomic<uint32_t> limited;
  std::atomic<uint32_t> refused;
  std::atomic<uint64_t> dropped;
  // Texts, the first that were set.
  std::atomic<uint32_t> why_refused;
  std::atomic<uint32_t> why_none;
  uint32_t unused[4];
};

struct ExperimentBoard::Entry {
  static constexpr uint32_t kIsFloat = 1;
  static constexpr uint32_t kIsSigned = 2;
  static constexpr uint32_t kIsAccess = 4;
  static constexpr uint32_t kIsCount = 8;
  static constexpr uint32_t kIsIndirect = 16;
  static constexpr uint32_t kByDescriptor = 32;
  static constexpr uint32_t kIsPartly = 64;  // `cannot` is about an index of an access
  static constexpr uint32_t kIsBinding = 128;
  static constexpr uint32_t kKindShift = 8;  // of an access, or of a binding
  static constexpr uint32_t kKindMask = 0xff;
  static constexpr uint32_t kFromShift = 16;  // of a binding
  static constexpr uint32_t kFromMask = 0xff;
  static constexpr uint32_t kIndexShift = 16;  // of its indices: this and the next bits
  static constexpr uint32_t kIndexBits = 3;    // the kind, and behind it whether it is signed
  static constexpr uint32_t kIndexMask = 3;
  static constexpr uint32_t kIndexIsSigned = 4;

  uint64_t shader;
  uint64_t translated;
  uint32_t index;
  uint32_t line;
  uint32_t column;
  uint32_t flags;
  uint32_t invocations;
  // Texts.
  uint32_t function;
  uint32_t file;
  uint32_t text;
  uint32_t left;        // of an access: the name of its pointer; of a binding: its own
  uint32_t comparison;  // of an access by descriptor, and of a binding: the set, no text
  uint32_t right;       // likewise the number, no text
  uint32_t cannot;
  std::atomic<uint32_t> ready;  // 1 once all the others are written
  uint32_t bytes;               // of an access; of a command how many counts it has
  uint32_t stage;
  uint32_t count;
  uint32_t excerpt;  // a text
  uint32_t excerpt_line;
  uint32_t excerpt_marked;
  uint32_t unused;
};

size_t ExperimentBoard::BytesFor(uint32_t loop_count, uint32_t text_bytes) {
  static_assert(sizeof(Header) == kHeaderBytes && sizeof(Entry) == kEntryBytes);
  static_assert(sizeof(AccessRecord) == sizeof(LoopRecord));
  static_assert(sizeof(CountRecord) == sizeof(LoopRecord));
  return RoundUp(sizeof(Header) + loop_count * sizeof(Entry) + text_bytes) +
         RoundUp(loop_count * sizeof(LoopRecord));
}

ExperimentBoard ExperimentBoard::Make(std::span<std::byte> memory, uint32_t loop_count,
                                      uint32_t text_bytes) {
  auto& header = *reinterpret_cast<Header*>(memory.data());
  header.magic = kMagic;
  header.version = kVersion;
  header.loop_count = loop_count;
  header.text_bytes = text_bytes;
  header.text_used.store(kFirstText, std::memory_order_relaxed);
  return std::move(Over(memory)).value();
}

Result<ExperimentBoard> ExperimentBoard::Over(std::span<std::byte> memory) {
  if (memory.size() < sizeof(Header)) return Damaged("it is too small");
  if (reinterpret_cast<uintptr_t>(memory.data()) % alignof(Header) != 0) {
    return Damaged("its address is not aligned");
  }
  ExperimentBoard board;
  board.header_ = reinterpret_cast<Header*>(memory.data());
  // Others may change what they wrote: each count is read once.
  const uint32_t loop_count = board.header_->loop_count;
  const uint32_t text_bytes = board.header_->text_bytes;
  if (board.header_->magic != kMagic || board.header_->version != kVersion) {
    return Damaged("it is no board, or one of another version");
  }
  if (loop_count == 0 || loop_count > kMostLoops || text_bytes > kMostTextBytes ||
      memory.size() != BytesFor(loop_count, text_bytes)) {
    return Damaged("its size does not fit its counts");
  }
  std::byte* const entries = memory.data() + sizeof(Header);
  board.entries_ = {reinterpret_cast<Entry*>(entries), loop_count};
  board.texts_ = {entries + board.entries_.size_bytes(), text_bytes};
  const size_t record_bytes = RoundUp(loop_count * sizeof(LoopRecord));
  board.records_ = {reinterpret_cast<LoopRecord*>(memory.data() + memory.size() - record_bytes),
                    loop_count};
  return board;
}

std::optional<uint32_t> ExperimentBoard::Reserve(uint32_t count) const {
  uint32_t at = header_->reserved.load(std::memory_order_relaxed);
  do {
    if (at > entries_.size() || entries_.size() - at < count) {
      header_->dropped.fetch_add(count, std::memory_order_relaxed);
      return std::nullopt;
    }
  } while (!header_->reserved.compare_exchange_weak(at, at + count, std::memory_order_relaxed));
  return at;
}

uint32_t ExperimentBoard::Add(const std::string& text) const {
  return AddText(header_->text_used, texts_, text);
}

// Names go first: a module with thousands of loops fills the board with lines.
uint32_t ExperimentBoard::AddExcerpt(const ShaderExcerpt& excerpt) const {
  if (header_->text_used.load(std::memory_order_relaxed) > texts_.size() / 2) return 0;
  return AddText(header_->text_used, texts_, excerpt.lines, kMostExcerptLength);
}

void ExperimentBoard::DescribePlace(Entry& entry, const ShaderNote& note) const {
  entry.shader = note.shader;
  entry.translated = note.translated;
  entry.stage = note.stage;
  entry.index = note.index;
  entry.count = note.count;
  entry.line = note.line;
  entry.column = note.column;
  entry.invocations = static_cast<uint32_t>(note.invocations);
  entry.function = Add(note.function);
  entry.file = Add(note.file);
  entry.text = Add(note.text);
  entry.cannot = Add(note.cannot);
  entry.excerpt = AddExcerpt(note.excerpt);
  entry.excerpt_line = note.excerpt.first_line;
  entry.excerpt_marked = note.excerpt.marked;
}

void ExperimentBoard::Describe(uint32_t index, const LoopNote& note) const {
  if (index >= entries_.size()) return;
  Entry& entry = entries_[index];
  DescribePlace(entry, note);
  entry.flags = (note.is_float ? Entry::kIsFloat : 0) | (note.is_signed ? Entry::kIsSigned : 0);
  entry.left = Add(note.left);
  entry.comparison = Add(note.comparison);
  entry.right = Add(note.right);
  entry.ready.store(1, std::memory_order_release);
}

void ExperimentBoard::Describe(uint32_t index, const AccessNote& note) const {
  if (index >= entries_.size()) return;
  Entry& entry = entries_[index];
  DescribePlace(entry, note);
  entry.flags = Entry::kIsAccess | static_cast<uint32_t>(note.kind) << Entry::kKindShift;
  if (note.by_descriptor) {
    entry.flags |= Entry::kByDescriptor;
    entry.comparison = note.set;
    entry.right = note.binding;
    for (uint32_t i = 0; i < kMostIndices; ++i) {
      const uint32_t bits = static_cast<uint32_t>(note.indices[i].kind) |
                            (note.indices[i].is_signed ? Entry::kIndexIsSigned : 0);
      entry.flags |= bits << (Entry::kIndexShift + Entry::kIndexBits * i);
    }
  }
  if (!note.partly.empty() && note.cannot.empty()) {
    entry.flags |= Entry::kIsPartly;
    entry.cannot = Add(note.partly);
  }
  entry.bytes = note.bytes;
  entry.left = Add(note.pointer);
  entry.ready.store(1, std::memory_order_release);
}

void ExperimentBoard::Describe(uint32_t index, const CountNote& note) const {
  if (index >= entries_.size()) return;
  Entry& entry = entries_[index];
  entry.flags = Entry::kIsCount | (note.is_indirect ? Entry::kIsIndirect : 0);
  entry.function = Add(note.command);
  entry.text = Add(note.label);
  entry.bytes = note.count;
  entry.ready.store(1, std::memory_order_release);
}

void ExperimentBoard::Describe(uint32_t index, const BindingNote& note) const {
  if (index >= entries_.size()) return;
  Entry& entry = entries_[index];
  DescribePlace(entry, note);
  entry.flags = Entry::kIsBinding | static_cast<uint32_t>(note.kind) << Entry::kKindShift |
                static_cast<uint32_t>(note.place.from) << Entry::kFromShift;
  entry.comparison = note.place.set;
  entry.right = note.place.number;
  entry.left = Add(note.name);
  entry.ready.store(1, std::memory_order_release);
}

void ExperimentBoard::CountLimited() const {
  header_->limited.fetch_add(1, std::memory_order_relaxed);
}

void ExperimentBoard::CountRefused(const std::string& why) const {
  header_->refused.fetch_add(1, std::memory_order_relaxed);
  SetFirst(header_->why_refused, why);
}

void ExperimentBoard::SetWhyNone(const std::string& why) const {
  SetFirst(header_->why_none, why);
}

// Two texts that come at once may both take room; one of them is kept.
void ExperimentBoard::SetFirst(std::atomic<uint32_t>& text, const std::string& why) const {
  if (text.load(std::memory_order_relaxed) != 0) return;
  uint32_t none = 0;
  text.compare_exchange_strong(none, AddText(header_->text_used, texts_, why),
                               std::memory_order_release, std::memory_order_relaxed);
}

std::span<std::byte> ExperimentBoard::record_bytes() const {
  return {reinterpret_cast<std::byte*>(records_.data()),
          RoundUp(records_.size() * sizeof(LoopRecord))};
}

ExperimentNotes ExperimentBoard::Read() const {
  ExperimentNotes catalogue;
  catalogue.limited = header_->limited.load(std::memory_order_relaxed);
  catalogue.refused = header_->refused.load(std::memory_order_relaxed);
  catalogue.dropped = header_->dropped.load(std::memory_order_relaxed);
  catalogue.why_refused = TextAt(texts_, header_->why_refused.load(std::memory_order_acquire));
  catalogue.why_none = TextAt(texts_, header_->why_none.load(std::memory_order_acquire));
  const size_t reserved =
      std::min<size_t>(header_->reserved.load(std::memory_order_relaxed), entries_.size());
  for (size_t i = 0; i < reserved; ++i) {
    const Entry& entry = entries_[i];
    if (entry.ready.load(std::memory_order_acquire) != 1) continue;
    const uint32_t flags = entry.flags;
    if ((flags & Entry::kIsCount) != 0) {
      CountNote note;
      note.command = TextAt(texts_, entry.function);
      note.label = TextAt(texts_, entry.text);
      note.count = std::min(entry.bytes, CountRecord::kMostCounts);
      note.is_indirect = (flags & Entry::kIsIndirect) != 0;
      std::memcpy(&note.record, &records_[i], sizeof(note.record));
      catalogue.counts.push_back(std::move(note));
      continue;
    }
    ShaderNote place;
    place.shader = entry.shader;
    place.translated = entry.translated;
    place.stage = entry.stage;
    place.index = entry.index;
    place.count = entry.count;
    place.function = TextAt(texts_, entry.function);
    place.file = TextAt(texts_, entry.file);
    place.text = TextAt(texts_, entry.text);
    place.line = entry.line;
    place.column = entry.column;
    place.invocations = KnownKind(entry.invocations);
    place.cannot = TextAt(texts_, entry.cannot);
    place.excerpt = {TextAt(texts_, entry.excerpt, kMostExcerptLength), entry.excerpt_line,
                     entry.excerpt_marked};
    if ((flags & Entry::kIsAccess) != 0) {
      AccessNote note{std::move(place)};
      note.kind = KnownAccess(flags >> Entry::kKindShift & Entry::kKindMask);
      if ((flags & Entry::kIsPartly) != 0) note.partly = std::exchange(note.cannot, "");
      note.by_descriptor = (flags & Entry::kByDescriptor) != 0;
      if (note.by_descriptor) {
        note.set = entry.comparison;
        note.binding = entry.right;
        for (uint32_t k = 0; k < kMostIndices; ++k) {
          const uint32_t bits = flags >> (Entry::kIndexShift + Entry::kIndexBits * k);
          note.indices[k] = {KnownIndex(bits & Entry::kIndexMask),
                             (bits & Entry::kIndexIsSigned) != 0};
        }
      }
      note.bytes = entry.bytes;
      note.pointer = TextAt(texts_, entry.left);
      std::memcpy(&note.record, &records_[i], sizeof(note.record));
      catalogue.accesses.push_back(std::move(note));
      continue;
    }
    if ((flags & Entry::kIsBinding) != 0) {
      BindingNote note{std::move(place)};
      note.place = {KnownFrom(flags >> Entry::kFromShift & Entry::kFromMask), entry.comparison,
                    entry.right};
      note.kind = KnownBinding(flags >> Entry::kKindShift & Entry::kKindMask);
      note.name = TextAt(texts_, entry.left);
      catalogue.bindings.push_back(std::move(note));
      continue;
    }
    LoopNote note{std::move(place)};
    note.left = TextAt(texts_, entry.left);
    note.comparison = TextAt(texts_, entry.comparison);
    note.right = TextAt(texts_, entry.right);
    note.is_float = (flags & Entry::kIsFloat) != 0;
    note.is_signed = (flags & Entry::kIsSigned) != 0;
    std::memcpy(&note.record, &records_[i], sizeof(note.record));
    catalogue.loops.push_back(std::move(note));
  }
  return catalogue;
}

}  // namespace cairn
