// SPDX-License-Identifier: Apache-2.0
#include "reader/page/page.h"

#include <utility>

#include "base/json_writer.h"
#include "reader/page/packed_text.h"
#include "reader/report/json.h"
#include "reader/report/markdown.h"
#ifdef CAIRN_HAS_PAGE
#include "embedded/page.html.h"
#include "embedded/triage.html.h"
#endif

namespace cairn {
namespace {

// The place of the data.
constexpr std::string_view kDataPlace = "@DATA@";
// The place in the page's policy: a page of a server may ask that server, a page in a file none.
constexpr std::string_view kServerPlace = "@SERVER@";
constexpr std::string_view kMayAskServer = "; connect-src 'self'";

#ifdef CAIRN_HAS_PAGE
std::string_view EmbeddedPage() {
  return {reinterpret_cast<const char*>(kPageHtml), sizeof(kPageHtml)};
}
std::string_view EmbeddedTriagePage() {
  return {reinterpret_cast<const char*>(kTriageHtml), sizeof(kTriageHtml)};
}
#else
std::string_view EmbeddedPage() {
  return {};
}
std::string_view EmbeddedTriagePage() {
  return {};
}
#endif

// Returns the text before and behind a place.
std::pair<std::string_view, std::string_view> SplitAt(std::string_view text,
                                                      std::string_view place) {
  const size_t at = text.find(place);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + place.size())};
}

// The bytes of the report before compression, at most: browsers hold them many times over.
constexpr uint64_t kMostBytes = uint64_t{96} << 20;

bool WriteData(const PageContent& content, PackedText* packed) {
  std::string begin;
  JsonWriter json(&begin, JsonWriter::kOneLine);
  json.BeginObject();
  json.StringKey("format", "cairn-page");
  json.NumberKey("version", 1);
  json.StringKey("file", content.file);
  json.BoolKey("trace", content.has_trace);
  json.StringKey("other", content.other);
  // For the page to copy into a bug tracker.
  json.StringKey("markdown", content.snapshot == nullptr
                                 ? ""
                                 : MarkdownReport(*content.snapshot, *content.findings,
                                                  content.names_file ? content.file : ""));
  // A text, for the page to parse: it may come from anybody.
  json.StringKey("why", content.why);
  json.Key("report");
  if (content.snapshot == nullptr) json.Null();
  return packed->Add(begin) &&
         (content.snapshot == nullptr ||
          WriteJsonReport(*content.snapshot, *content.findings,
                          [packed](std::string_view piece) { return packed->Add(piece); },
                          {.file = content.names_file ? content.file : std::string_view(),
                           .most_bytes = kMostBytes})) &&
         packed->Add("}") && packed->Finish();
}

// `instead`: the verb that prints the same.
Status Write(std::string_view page, std::string_view instead, bool is_served,
             const std::function<bool(std::string_view)>& print,
             const std::function<bool(PackedText*)>& write_data) {
  if (page.empty()) {
    return Status(StatusCode::kUnsupported,
                  "this cairn was built without its viewer, which takes node, npm and esbuild; " +
                      std::string(instead) + " prints the same as text");
  }
  const auto [head, rest] = SplitAt(page, kServerPlace);
  const auto [body, end] = SplitAt(rest, kDataPlace);
  PackedText packed(print);
  if (!print(head) || !print(is_served ? kMayAskServer : "") || !print(body) ||
      !write_data(&packed) || !print(end)) {
    return Status(StatusCode::kIo, "the page could not be written");
  }
  return {};
}

}  // namespace

bool HasPage() {
  return !EmbeddedPage().empty();
}

Status WritePage(const PageContent& content, const std::function<bool(std::string_view)>& print) {
  return Write(EmbeddedPage(), "cairn report", content.is_served, print,
               [&content](PackedText* packed) { return WriteData(content, packed); });
}

Status WriteTriagePage(std::string_view json, bool is_served,
                       const std::function<bool(std::string_view)>& print) {
  return Write(EmbeddedTriagePage(), "cairn triage", is_served, print,
               [json](PackedText* packed) { return packed->Add(json) && packed->Finish(); });
}

}  // namespace cairn
