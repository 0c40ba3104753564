// SPDX-License-Identifier: Apache-2.0
#include "icd/script.h"

#include <cctype>
#include <charconv>
#include <optional>

namespace cairn::icd {
namespace {

constexpr std::string_view kPrefix = "icd:";
constexpr std::string_view kInTransfer = " in transfer";

// Reads words and numbers off the front of a text.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) { SkipSpaces(); }

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // The text starts with these words; takes them.
  bool Take(std::string_view words) {
    if (!rest_.starts_with(words)) return false;
    const std::string_view behind = rest_.substr(words.size());
    if (!behind.empty() && !std::isspace(static_cast<unsigned char>(behind.front()))) return false;
    rest_ = behind;
    SkipSpaces();
    return true;
  }

  // Decimal, or hexadecimal with 0x.
  std::optional<uint64_t> TakeNumber() {
    const size_t size = rest_.find(' ');
    std::string_view digits = rest_.substr(0, size);
    const int base = digits.starts_with("0x") ? 16 : 10;
    if (base == 16) digits.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (status != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    rest_.remove_prefix(size == std::string_view::npos ? rest_.size() : size);
    SkipSpaces();
    return value;
  }

  std::string_view TakeRest() {
    const std::string_view taken = rest_;
    rest_ = {};
    return taken;
  }

 private:
  void SkipSpaces() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front()))) {
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
};

bool TakeInto(Words* words, uint64_t* value) {
  const std::optional<uint64_t> number = words->TakeNumber();
  if (!number) return false;
  *value = *number;
  return true;
}

// "ADDRESS read|write|execute|instruction [precision N]"; all of it may be missing.
bool ParseFault(Words* words, Directive* directive) {
  if (words->empty()) return true;
  if (!TakeInto(words, &directive->address)) return false;
  directive->access = FaultAccess::kRead;
  if (words->Take("write")) {
    directive->access = FaultAccess::kWrite;
  } else if (words->Take("execute")) {
    directive->access = FaultAccess::kExecute;
  } else if (words->Take("instruction")) {
    directive->access = FaultAccess::kInstruction;
  } else {
    words->Take("read");
  }
  if (!words->Take("precision")) return true;
  const bool is_number = TakeInto(words, &directive->precision);
  return is_number && directive->precision != 0 &&
         (directive->precision & (directive->precision - 1)) == 0;
}

bool ParseCount(Words* words, Directive* directive) {
  return TakeInto(words, &directive->count);
}

// A number of steps from now, or none: at once.
bool ParseAfter(Words* words, Directive* directive) {
  return !words->Take("after") || TakeInto(words, &directive->count);
}

bool ParseLose(Words* words, Directive* directive) {
  directive->count = 1;
  if (words->Take("top")) {
    directive->kind = DirectiveKind::kLoseTop;
  } else if (words->Take("bottom")) {
    directive->kind = DirectiveKind::kLoseBottom;
  } else if (words->Take("next marker")) {
    directive->kind = DirectiveKind::kLoseMarkers;
  } else {
    directive->kind = DirectiveKind::kLoseMarkers;
    if (!TakeInto(words, &directive->count)) return false;
    if (words->Take("markers")) return true;
    directive->kind = DirectiveKind::kLoseBottom;
    return words->Take("bottoms");
  }
  return true;
}

bool ParseRange(Words* words, Directive* directive) {
  return TakeInto(words, &directive->address) && TakeInto(words, &directive->size_bytes);
}

bool ParseMiss(Words* words, Directive* directive) {
  if (words->Take("buffer")) {
    directive->missed = Missed::kBuffer;
  } else if (words->Take("image")) {
    directive->missed = Missed::kImage;
  } else if (words->Take("descriptor")) {
    directive->missed = Missed::kDescriptor;
  } else {
    return false;
  }
  return ParseFault(words, directive);
}

bool ParseLate(Words* words, Directive* directive) {
  if (words->Take("for ever")) {
    directive->kind = DirectiveKind::kLateForEver;
  } else if (!ParseCount(words, directive)) {
    return false;
  }
  if (words->Take("top")) directive->place = MarkerPlace::kTop;
  if (words->Take("bottom")) directive->place = MarkerPlace::kBottom;
  return true;
}

bool ParseVendorInfo(Words* words, Directive* directive) {
  if (!TakeInto(words, &directive->code) || !TakeInto(words, &directive->data)) return false;
  directive->text = words->TakeRest();
  return true;
}

bool ParseVendorBinary(Words* words, Directive* directive) {
  directive->text = words->TakeRest();
  return true;
}

bool ParseNothing(Words*, Directive*) {
  return true;
}

// Directives about the next work may be about the next transfer.
bool IsAboutWork(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::kDuration:
    case DirectiveKind::kHang:
    case DirectiveKind::kFault:
    case DirectiveKind::kMaskedFault:
    case DirectiveKind::kRace:
    case DirectiveKind::kMiss:
    case DirectiveKind::kFaultAfterCompletion:
    case DirectiveKind::kLoseTop:
    case DirectiveKind::kLoseBottom:
    case DirectiveKind::kNote: return true;
    default: return false;
  }
}

struct Rule {
  std::string_view words;
  DirectiveKind kind;
  bool (*parse)(Words*, Directive*);
};

// The longer one first where one begins like another.
constexpr Rule kRules[] = {
    {"duration", DirectiveKind::kDuration, ParseCount},
    {"hang", DirectiveKind::kHang, ParseNothing},
    {"fault-after-completion", DirectiveKind::kFaultAfterCompletion, ParseFault},
    {"masked-fault", DirectiveKind::kMaskedFault, ParseFault},
    {"fault", DirectiveKind::kFault, ParseFault},
    {"race", DirectiveKind::kRace, ParseFault},
    {"miss", DirectiveKind::kMiss, ParseMiss},
    {"late", DirectiveKind::kLate, ParseLate},
    {"lose", DirectiveKind::kLoseMarkers, ParseLose},
    {"reorder end", DirectiveKind::kReorderEnd, ParseNothing},
    {"reorder", DirectiveKind::kReorder, ParseNothing},
    {"device-lost", DirectiveKind::kDeviceLost, ParseAfter},
    {"stop", DirectiveKind::kStop, ParseAfter},
    {"drop-stores", DirectiveKind::kDropStores, ParseNothing},
    {"vendor-info", DirectiveKind::kVendorInfo, ParseVendorInfo},
    {"vendor-binary", DirectiveKind::kVendorBinary, ParseVendorBinary},
    {"bind", DirectiveKind::kBind, ParseRange},
    {"unbind", DirectiveKind::kUnbind, ParseRange},
    {"note", DirectiveKind::kNote, ParseRange},
};

}  // namespace

bool IsScript(std::string_view label) {
  return label.starts_with(kPrefix);
}

bool ParseDirective(std::string_view label, Directive* directive, std::string* error) {
  std::string_view text = label.substr(kPrefix.size());
  const bool in_transfer = text.ends_with(kInTransfer);
  if (in_transfer) text.remove_suffix(kInTransfer.size());
  Words words(text);
  for (const Rule& rule : kRules) {
    if (!words.Take(rule.words)) continue;
    *directive = Directive{};
    directive->kind = rule.kind;
    if (rule.parse(&words, directive) && words.empty() &&
        (!in_transfer || IsAboutWork(directive->kind))) {
      directive->in_transfer = in_transfer;
      return true;
    }
    *error = "\"" + std::string(label) + "\": \"" + std::string(words.rest()) +
             "\" is not what follows \"" + std::string(rule.words) +
             "\"; tests/icd/README.md has the language";
    return false;
  }
  *error = "\"" + std::string(label) + "\" is no directive; tests/icd/README.md has the language";
  return false;
}

}  // namespace cairn::icd
