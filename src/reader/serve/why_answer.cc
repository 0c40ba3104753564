// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/why_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "os/file.h"
#include "reader/page/page.h"

namespace cairn {
namespace {

using nlohmann::json;

// Some thousand loops, each with its lines.
constexpr uint64_t kMostBytes = uint64_t{16} << 20;
// Answers are flatter than that. What is deeper is not kept.
constexpr int kMostDepth = 12;

json Parsed(const std::string& text) {
  return json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth < kMostDepth; },
      /*allow_exceptions=*/false);
}

Result<std::string> ReadText(const std::string& path) {
  std::error_code error;
  const File file = File::Open(FilePath(path), FileMode::kRead, error);
  if (!file.valid()) return StatusFromError(error, fmt::format("'{}' cannot be opened", path));
  std::string text(std::min(file.facts().size_bytes, kMostBytes + 1), '\0');
  size_t read_bytes = 0;
  error = file.ReadAt(0, std::as_writable_bytes(std::span(text)), &read_bytes);
  if (error) return StatusFromError(error, fmt::format("'{}' cannot be read", path));
  text.resize(read_bytes);
  return text;
}

}  // namespace

Result<std::string> ReadWhyAnswer(const std::string& path) {
  const auto refused = [&path](const std::string& why) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("'{}' {}; cairn why --json prints such an answer", path, why));
  };
  Result<std::string> text = ReadText(path);
  if (!text.ok()) return text;
  if (text->size() > kMostBytes) return refused("is larger than any answer of cairn why");
  const json answer = Parsed(*text);
  if (!answer.is_object() || answer.value("format", json()) != json("cairn-why")) {
    return refused("is no answer of cairn why");
  }
  if (answer.value("version", json()) != json(1)) return refused("has a version that is not known");
  return text;
}

Result<std::string> PageOfWhyAnswer(const std::string& why, bool is_served) {
  const json answer = Parsed(why);
  const json program = answer.is_object() ? answer.value("program", json()) : json();
  std::string page;
  const Status status = WritePage({.file = program.is_string() ? program.get<std::string>() : "",
                                   .is_served = is_served,
                                   .why = why},
                                  [&page](std::string_view piece) {
                                    page += piece;
                                    return true;
                                  });
  if (!status.ok()) return status;
  return page;
}

}  // namespace cairn
