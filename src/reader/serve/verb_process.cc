// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/verb_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <system_error>

#include "base/text.h"
#include "os/child.h"
#include "os/file.h"

namespace cairn {
namespace {

constexpr uint64_t kLookNs = 300'000'000;
constexpr size_t kShownErrors = 16 << 10;

// The last of it: a search says for hours how far it is.
std::string Contents(const std::filesystem::path& path, size_t most_bytes) {
  std::error_code error;
  const File file = File::Open(FilePath(path), FileMode::kRead, error);
  if (error) return "";
  const uint64_t size_bytes = file.facts().size_bytes;
  std::string text(std::min<uint64_t>(size_bytes, most_bytes), '\0');
  size_t read_bytes = 0;
  (void)file.ReadAt(size_bytes - text.size(), std::as_writable_bytes(std::span(text)), &read_bytes);
  text.resize(read_bytes);
  return text;
}

}  // namespace

Result<VerbResult> RunVerb(const std::vector<std::string>& words,
                           const std::filesystem::path& folder, size_t most_bytes,
                           const std::function<bool(const std::string& errors)>& look) {
  const std::filesystem::path output = folder / "output";
  const std::filesystem::path errors = folder / "errors";
  Result<Child> child = Child::Start({.purpose = fmt::format("cairn {}", words.front()),
                                      .arguments = words,
                                      .output = output,
                                      .errors = errors});
  if (!child.ok()) return child.status();
  const auto says_too_much = [&] { return FactsAt(FilePath(output)).size_bytes > most_bytes; };
  const auto too_much = [&] {
    return Status(StatusCode::kIo, fmt::format("cairn {} printed more than {} bytes", words.front(),
                                               GroupedDigits(most_bytes)));
  };
  while (!child->WaitForEnd(kLookNs)) {
    const bool is_wanted = look(Contents(errors, kShownErrors));
    if (is_wanted && !says_too_much()) continue;
    (void)KillAndWait(*child, 10 * kLookNs);
    if (is_wanted) return too_much();
    return Status(StatusCode::kIo, fmt::format("cairn {} was stopped", words.front()));
  }
  const ProcessEnd end = child->End();
  if (end.kind != EndKind::kExited) {
    return Status(StatusCode::kInternal,
                  fmt::format("cairn {} died: {}", words.front(), CauseOfDeath(end.value)));
  }
  // A part of an answer is none.
  if (says_too_much()) return too_much();
  return VerbResult{end.value, Contents(output, most_bytes), Contents(errors, kShownErrors)};
}

}  // namespace cairn
