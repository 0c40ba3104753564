// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/bitcode_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cairn {
namespace {

constexpr uint32_t kMagic = 0xDEC04342;  // 'B' 'C' 0xC0DE
constexpr uint32_t kTopWidth = 2;
// Abbreviations that every block has.
constexpr uint64_t kEndBlock = 0;
constexpr uint64_t kEnterSubblock = 1;
constexpr uint64_t kDefineAbbreviation = 2;
constexpr uint64_t kUnabbreviated = 3;
constexpr uint64_t kFirstDefined = 4;
constexpr uint32_t kBlockInfo = 0;  // the block whose abbreviations are those of other blocks
constexpr uint64_t kSetBlock = 1;   // its record
// LLVM's have some ten operands; an operand that costs no bits must not cost time without end.
constexpr size_t kMostOperands = 64;
constexpr size_t kMostNested = 32;
constexpr char kChar6[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

class BitReader {
 public:
  explicit BitReader(std::span<const uint32_t> words) : words_(words) {}

  bool failed() const { return failed_; }
  uint64_t position() const { return bit_; }
  uint64_t size() const { return uint64_t{words_.size()} * 32; }
  void SetPosition(uint64_t bit) {
    if (bit > size())
      failed_ = true;
    else
      bit_ = bit;
  }
  void Align() { SetPosition((bit_ + 31) / 32 * 32); }

  // `width`: up to 64.
  uint64_t Fixed(uint32_t width) {
    if (failed_ || width > size() - bit_) {
      failed_ = true;
      return 0;
    }
    uint64_t value = 0;
    for (uint32_t done = 0; done < width;) {
      const uint32_t offset = bit_ % 32;
      const uint32_t part = std::min(32 - offset, width - done);
      const uint64_t bits = words_[bit_ / 32] >> offset & ((uint64_t{1} << part) - 1);
      value |= bits << done;
      done += part;
      bit_ += part;
    }
    return value;
  }
  // Groups of `width` bits, whose highest says that more follow.
  uint64_t Variable(uint32_t width) {
    if (width < 2 || width > 32) {
      failed_ = true;
      return 0;
    }
    const uint64_t more = uint64_t{1} << (width - 1);
    uint64_t value = 0;
    for (uint32_t shift = 0; !failed_; shift += width - 1) {
      const uint64_t group = Fixed(width);
      if (shift < 64) value |= (group & (more - 1)) << shift;
      if ((group & more) == 0) break;
    }
    return value;
  }

 private:
  std::span<const uint32_t> words_;
  uint64_t bit_ = 0;
  bool failed_ = false;
};

enum class Encoding : uint8_t {
  kLiteral = 0,
  kFixed = 1,
  kVariable = 2,
  kArray = 3,
  kChar6 = 4,
  kBlob = 5
};
struct AbbreviatedOperand {
  Encoding encoding = Encoding::kLiteral;
  uint64_t value = 0;  // the literal, or a width in bits
};
using Abbreviation = std::vector<AbbreviatedOperand>;

class Walk {
 public:
  Walk(std::span<const uint32_t> words, const std::function<bool(uint32_t)>& is_wanted,
       const std::function<void(const BitcodeRecord&)>& on_record)
      : in_(words), is_wanted_(is_wanted), on_record_(on_record) {}

  bool Run() {
    if (in_.Fixed(32) != kMagic) return false;
    // Words behind the last block are padding.
    while (!in_.failed() && in_.size() - in_.position() >= 32) {
      if (in_.Fixed(kTopWidth) != kEnterSubblock) return false;
      if (!EnterBlock()) return false;
      while (!open_.empty()) {
        if (!Step()) return false;
      }
    }
    return !in_.failed();
  }

 private:
  struct Block {
    uint32_t id = 0;
    uint32_t width = kTopWidth;
    const std::vector<Abbreviation>* common = nullptr;  // those that kBlockInfo gave
    size_t common_count = 0;
    std::vector<Abbreviation> own;  // numbered behind them

    const Abbreviation* Find(uint64_t number) const {
      if (number < common_count) return &(*common)[number];
      return number - common_count < own.size() ? &own[number - common_count] : nullptr;
    }
  };

  // One thing of the innermost block.
  bool Step() {
    Block& block = open_.back();
    const uint64_t what = in_.Fixed(block.width);
    if (in_.failed()) return false;
    switch (what) {
      case kEndBlock:
        in_.Align();
        open_.pop_back();
        return !in_.failed();
      case kEnterSubblock: return EnterBlock();
      case kDefineAbbreviation: return Define();
      case kUnabbreviated: return ReadUnabbreviated();
      default: break;
    }
    const Abbreviation* const abbreviation = block.Find(what - kFirstDefined);
    return abbreviation != nullptr && ReadAbbreviated(*abbreviation);
  }

  bool EnterBlock() {
    Block block;
    block.id = static_cast<uint32_t>(in_.Variable(8));
    block.width = static_cast<uint32_t>(in_.Variable(4));
    in_.Align();
    const uint64_t words = in_.Fixed(32);
    if (in_.failed() || block.width < kTopWidth || block.width > 32) return false;
    if (block.id != kBlockInfo && !is_wanted_(block.id)) {
      in_.SetPosition(in_.position() + words * 32);
      return !in_.failed();
    }
    if (open_.size() >= kMostNested) return false;
    const auto known = abbreviations_.find(block.id);
    if (known != abbreviations_.end()) {
      block.common = &known->second;
      block.common_count = known->second.size();
    }
    open_.push_back(std::move(block));
    described_.reset();
    return true;
  }

  bool Define() {
    const uint64_t count = in_.Variable(5);
    if (count == 0 || count > kMostOperands) return false;
    Abbreviation made;
    while (made.size() < count && !in_.failed()) {
      if (in_.Fixed(1) != 0) {
        made.push_back({Encoding::kLiteral, in_.Variable(8)});
        continue;
      }
      const uint64_t encoding = in_.Fixed(3);
      if (encoding < 1 || encoding > 5) return false;
      AbbreviatedOperand operand{static_cast<Encoding>(encoding), 0};
      const bool has_width =
          operand.encoding == Encoding::kFixed || operand.encoding == Encoding::kVariable;
      if (has_width) operand.value = in_.Variable(5);
      if (operand.value > 64) return false;
      made.push_back(operand);
    }
    if (in_.failed()) return false;
    Block& block = open_.back();
    if (block.id != kBlockInfo) {
      block.own.push_back(std::move(made));
    } else if (described_.has_value()) {
      abbreviations_[*described_].push_back(std::move(made));
    } else {
      return false;
    }
    return true;
  }

  bool ReadUnabbreviated() {
    const uint64_t code = in_.Variable(6);
    const uint64_t count = in_.Variable(6);
    operands_.clear();
    for (uint64_t i = 0; i < count && !in_.failed(); ++i) operands_.push_back(in_.Variable(6));
    return Tell(code);
  }

  bool ReadAbbreviated(const Abbreviation& abbreviation) {
    operands_.clear();
    for (size_t i = 0; i < abbreviation.size() && !in_.failed(); ++i) {
      const AbbreviatedOperand& operand = abbreviation[i];
      if (operand.encoding == Encoding::kArray) {
        // The next operand is the last one: it encodes the elements.
        if (i + 2 != abbreviation.size() || !ReadArray(abbreviation[i + 1])) return false;
        break;
      }
      if (operand.encoding == Encoding::kBlob) {
        SkipBlob();
      } else {
        operands_.push_back(ReadScalar(operand));
      }
    }
    if (operands_.empty()) return false;
    const uint64_t code = operands_.front();
    operands_.erase(operands_.begin());
    return Tell(code);
  }

  uint64_t ReadScalar(const AbbreviatedOperand& operand) {
    switch (operand.encoding) {
      case Encoding::kLiteral: return operand.value;
      case Encoding::kFixed: return in_.Fixed(static_cast<uint32_t>(operand.value));
      case Encoding::kVariable:
        return operand.value == 0 ? 0 : in_.Variable(static_cast<uint32_t>(operand.value));
      default: return static_cast<unsigned char>(kChar6[in_.Fixed(6)]);
    }
  }

  bool ReadArray(const AbbreviatedOperand& element) {
    const bool takes_bits =
        element.encoding == Encoding::kChar6 ||
        ((element.encoding == Encoding::kFixed || element.encoding == Encoding::kVariable) &&
         element.value != 0);
    const uint64_t count = in_.Variable(6);
    if (!takes_bits && count > kMostOperands) return false;
    for (uint64_t i = 0; i < count && !in_.failed(); ++i) operands_.push_back(ReadScalar(element));
    return !in_.failed();
  }

  void SkipBlob() {
    const uint64_t bytes = in_.Variable(6);
    in_.Align();
    if (in_.failed() || bytes > (in_.size() - in_.position()) / 8) {
      in_.SetPosition(in_.size() + 1);
      return;
    }
    in_.SetPosition(in_.position() + bytes * 8);
    in_.Align();
  }

  bool Tell(uint64_t code) {
    if (in_.failed()) return false;
    const Block& block = open_.back();
    if (block.id != kBlockInfo) {
      on_record_({block.id, code, operands_});
    } else if (code == kSetBlock) {
      if (operands_.empty()) return false;
      described_ = static_cast<uint32_t>(operands_.front());
    }
    return true;
  }

  BitReader in_;
  const std::function<bool(uint32_t)>& is_wanted_;
  const std::function<void(const BitcodeRecord&)>& on_record_;
  std::vector<Block> open_;                                                // outermost first
  std::unordered_map<uint32_t, std::vector<Abbreviation>> abbreviations_;  // by block
  std::optional<uint32_t> described_;  // within kBlockInfo: the block that it speaks of
  std::vector<uint64_t> operands_;
};

}  // namespace

bool ReadBitcode(std::span<const uint32_t> words,
                 const std::function<bool(uint32_t block)>& is_wanted,
                 const std::function<void(const BitcodeRecord& record)>& on_record) {
  return Walk(words, is_wanted, on_record).Run();
}

}  // namespace cairn
