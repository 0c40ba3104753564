// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/file_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/text.h"

namespace cairn {
namespace {

constexpr size_t kMostTargetBytes = 8192;

struct Number {
  std::string_view key;
  std::optional<uint64_t> FileQuestion::*value;
};
struct Text {
  std::string_view key;
  std::string FileQuestion::*value;
};
constexpr auto kNumbers = std::to_array<Number>({{"first", &FileQuestion::first},
                                                 {"count", &FileQuestion::count},
                                                 {"from", &FileQuestion::from},
                                                 {"number", &FileQuestion::number},
                                                 {"call", &FileQuestion::call},
                                                 {"completed", &FileQuestion::completed},
                                                 {"page", &FileQuestion::page},
                                                 {"thread", &FileQuestion::thread},
                                                 {"frame", &FileQuestion::frame}});
constexpr auto kTexts = std::to_array<Text>({{"function", &FileQuestion::function},
                                             {"object", &FileQuestion::object},
                                             {"text", &FileQuestion::text},
                                             {"moment", &FileQuestion::moment},
                                             {"name", &FileQuestion::name}});

constexpr auto kOfCalls = std::to_array<std::string_view>(
    {"first", "count", "from", "thread", "frame", "function", "object", "text"});
constexpr auto kNumber = std::to_array<std::string_view>({"number"});
constexpr auto kCall = std::to_array<std::string_view>({"call"});
constexpr auto kFrame = std::to_array<std::string_view>({"frame"});
constexpr auto kOfImages =
    std::to_array<std::string_view>({"call", "moment", "completed", "page", "objects"});
constexpr auto kName = std::to_array<std::string_view>({"name"});

struct Known {
  std::string_view name;
  bool is_order = false;
  Asked asked;
  std::span<const std::string_view> keys = {};
  std::string_view needed = "";  // one of them
};
constexpr auto kKnown = std::to_array<Known>({
    {"", false, Asked::kPage},
    {"calls", false, Asked::kCalls, kOfCalls},
    {"count", false, Asked::kCount},
    {"line", false, Asked::kLine, kNumber, "number"},
    {"outline", false, Asked::kOutline},
    {"state", false, Asked::kState, kCall, "call"},
    {"objects", false, Asked::kObjects},
    {"images", true, Asked::kImages, kOfImages, "call"},
    {"image", false, Asked::kImage, kName, "name"},
    {"frame-images", true, Asked::kFrameImages, kFrame, "frame"},
    {"other-images", true, Asked::kOtherImages, kFrame, "frame"},
    {"other-image", false, Asked::kOtherImage, kName, "name"},
    {"compare", false, Asked::kCompare},
    {"bisect", true, Asked::kStartBisect},
    {"stop-bisect", true, Asked::kStopBisect},
    {"bisect", false, Asked::kBisect},
});

Status Wrong(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message));
}

std::optional<unsigned> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return std::nullopt;
}

// Decodes a text by https://url.spec.whatwg.org/#urlencoded-parsing, except that invalid text is
// refused instead of kept.
Result<std::string> Unescaped(std::string_view escaped) {
  std::string text;
  for (size_t i = 0; i < escaped.size(); ++i) {
    char c = escaped[i];
    if (c == '+') c = ' ';
    if (c == '%') {
      const auto high = i + 1 < escaped.size() ? HexDigit(escaped[i + 1]) : std::nullopt;
      const auto low = i + 2 < escaped.size() ? HexDigit(escaped[i + 2]) : std::nullopt;
      if (!high || !low) return Wrong("behind '%' stand two hexadecimal digits");
      c = static_cast<char>(*high << 4 | *low);
      i += 2;
    }
    if (c == '\0') return Wrong("a value has a NUL");
    text += c;
  }
  if (!IsValidUtf8(text)) return Wrong("a value is not UTF-8");
  return text;
}

// A name, and no path: to Windows "C:name" is one, too.
bool IsFileName(std::string_view name) {
  return !name.starts_with('.') && name.find_first_of("/\\:") == std::string_view::npos;
}

// "12,31"
Status TakeObjects(std::string_view text, FileQuestion* question) {
  for (;;) {
    const size_t end = text.find(',');
    const std::optional<uint64_t> object = ParseDigits(text.substr(0, end));
    if (!object) return Wrong("objects: numbers with ',' between them");
    if (question->objects.size() == FileQuestion::kMostObjects) {
      return Wrong(fmt::format("objects: {} at most", FileQuestion::kMostObjects));
    }
    question->objects.push_back(*object);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

Status Take(std::string_view key, std::string value, FileQuestion* question) {
  for (const Number& number : kNumbers) {
    if (number.key != key) continue;
    const std::optional<uint64_t> parsed = ParseDigits(value);
    if (!parsed) return Wrong(fmt::format("{}: '{}' is not a number", key, value));
    question->*number.value = parsed;
    return {};
  }
  if (key == "objects") return TakeObjects(value, question);
  if (key == "moment" && value != "before" && value != "after") {
    return Wrong("moment: before or after");
  }
  if (key == "name" && !IsFileName(value)) return Wrong("that is no image's name");
  for (const Text& text : kTexts) {
    if (text.key == key) question->*text.value = std::move(value);
  }
  return {};
}

}  // namespace

Result<FileQuestion> ReadFileQuestion(std::string_view target, bool is_order) {
  if (target.size() > kMostTargetBytes) return Wrong("no question is so long");
  const size_t mark = target.find('?');
  const std::string_view name = target.substr(0, mark);
  const auto known = std::ranges::find_if(
      kKnown, [&](const Known& each) { return each.name == name && each.is_order == is_order; });
  if (known == kKnown.end()) {
    return Status(StatusCode::kNotFound,
                  is_order ? "there is no such order" : "there is no such question");
  }
  FileQuestion question = {.asked = known->asked};
  std::vector<std::string_view> given;
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const size_t equals = pair.find('=');
    const std::string_view key = pair.substr(0, equals);
    if (std::ranges::find(known->keys, key) == known->keys.end()) {
      return Wrong(fmt::format("'{}' has no use here", key));
    }
    Result<std::string> value =
        Unescaped(equals == std::string_view::npos ? "" : pair.substr(equals + 1));
    if (!value.ok()) return value.status();
    if (value->empty()) continue;
    if (std::ranges::find(given, key) != given.end()) {
      return Wrong(fmt::format("'{}' is given twice", key));
    }
    given.push_back(key);
    CAIRN_RETURN_IF_ERROR(Take(key, std::move(value).value(), &question));
  }
  if (!known->needed.empty() && std::ranges::find(given, known->needed) == given.end()) {
    return Wrong(fmt::format("'{}' is missing", known->needed));
  }
  return question;
}

std::optional<DumpQuestion> ReadDumpQuestion(std::string_view target) {
  constexpr std::string_view kBefore = "dump/";
  if (!target.starts_with(kBefore)) return std::nullopt;
  target.remove_prefix(kBefore.size());
  const size_t end = target.find('/');
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<uint64_t> number = ParseDigits(target.substr(0, end));
  if (!number) return std::nullopt;
  return DumpQuestion{*number, target.substr(end + 1)};
}

std::vector<std::string> VerbFor(const FileQuestion& question, const QuestionPaths& paths) {
  switch (question.asked) {
    case Asked::kFrameImages:
    case Asked::kOtherImages: {
      const bool is_other = question.asked == Asked::kOtherImages;
      return {"images",
              "--json",
              "--frame",
              std::to_string(question.frame.value_or(0)),
              "-o",
              is_other ? paths.other_images : paths.images,
              is_other ? paths.other : paths.file};
    }
    case Asked::kCompare:
      return {"diff", "--json", "--align", "--limit", "2000", paths.file, paths.other};
    case Asked::kStartBisect:
      return {"bisect",   "--json",    "--progress",  "--no-output",
              "--no-why", "--journal", paths.journal, paths.file};
    case Asked::kImages:
    case Asked::kPage:
    case Asked::kCalls:
    case Asked::kCount:
    case Asked::kLine:
    case Asked::kOutline:
    case Asked::kState:
    case Asked::kObjects:
    case Asked::kImage:
    case Asked::kOtherImage:
    case Asked::kStopBisect:
    case Asked::kBisect: break;
  }
  return {};
}

}  // namespace cairn
