// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/tool_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "reader/mcp/json_rpc.h"
#include "reader/mcp/report_rows.h"

namespace cairn {
namespace {

using nlohmann::json;

constexpr size_t kSuspectsOfVerdict = 3;
constexpr size_t kMostCallsBytes = size_t{4} << 20;  // of lines that are read
constexpr size_t kMostWarnings = 8;
constexpr size_t kMostNamed = 32;

// Writes an object whose size is bounded.
class AnswerWriter {
 public:
  AnswerWriter() : writer_(&text_, JsonWriter::kOneLine) {
    writer_.BeginObject();
    writer_.LimitBytes(kMostAnswerBytes);
  }

  void PutKeys(const json& object) {
    for (const auto& [key, value] : object.items()) Put(key, value);
  }

  void Put(const std::string& key, const json& value) {
    PutKey(key);
    PutValue(value);
  }

  // Writes rows while there is room; returns how many were written.
  uint64_t PutRows(const std::string& key, const std::vector<json>& rows) {
    PutKey(key);
    writer_.BeginArray();
    uint64_t written = 0;
    for (; written < rows.size() && (written == 0 || text_.size() < kMostAnswerBytes / 2);
         ++written) {
      PutValue(rows[written]);
    }
    writer_.EndArray();
    return written;
  }

  // `warnings`: the verb's own. `left_out`: values that were not even read.
  std::string Finish(const std::vector<std::string>& warnings, uint64_t left_out = 0) {
    if (!warnings.empty()) writer_.StringsKey("warnings", warnings);
    left_out += writer_.left_out_count();
    if (left_out + cut_ != 0) {
      writer_.StringKey("truncated",
                        fmt::format("{} and {} are cut: an answer has about {} KiB; ask for "
                                    "fewer rows or a smaller part",
                                    Counted(left_out, "value"), Counted(cut_, "long text"),
                                    kMostAnswerBytes >> 10));
    }
    writer_.EndObject();
    return std::move(text_);
  }

 private:
  void PutKey(const std::string& key) {
    std::string escaped;
    AppendJsonText(key, escaped);
    writer_.Key(escaped);
  }

  void PutValue(const json& value) {
    if (value.is_object()) {
      writer_.BeginObject();
      PutKeys(value);
      writer_.EndObject();
    } else if (value.is_array()) {
      writer_.BeginArray();
      for (const json& element : value) PutValue(element);
      writer_.EndArray();
    } else if (const std::string* const text = value.get_ptr<const std::string*>()) {
      PutText(*text);
    } else {
      writer_.Json(value.dump());
    }
  }

  void PutText(const std::string& text) {
    if (text.size() <= kMostAnswerTextBytes) return writer_.String(text);
    ++cut_;
    writer_.String(std::string(Utf8Prefix(text, kMostAnswerTextBytes)) + "...");
  }

  std::string text_;
  JsonWriter writer_;
  uint64_t cut_ = 0;
};

// Returns the verb's first warnings, and last the error with which it failed.
std::vector<std::string> WarningsIn(const VerbResult& result) {
  std::string_view errors = result.errors;
  std::vector<std::string> warnings;
  std::string_view error;
  while (!errors.empty()) {
    std::string_view line = errors.substr(0, errors.find('\n'));
    errors.remove_prefix(std::min(errors.size(), line.size() + 1));
    line.remove_prefix(line.find_last_of('\r') + 1);  // progress, which is overwritten
    if (!line.starts_with("cairn ")) continue;
    constexpr std::string_view kWarning = "warning: ";
    const size_t at = line.find(kWarning);
    if (at == std::string_view::npos) {
      error = line;
    } else if (warnings.size() < kMostWarnings) {
      warnings.emplace_back(line.substr(at + kWarning.size()));
    }
  }
  if (result.exit_code != 0 && !error.empty()) warnings.emplace_back(error);
  return warnings;
}

// The parts of a verb's JSON that a tool has; empty: all.
std::vector<std::string_view> KeptKeys(const ToolCall& call) {
  const RowQuery& rows = call.rows;
  const bool is_whole =
      rows.offset == 0 && rows.name.empty() && rows.state.empty() && rows.address.empty();
  switch (call.tool) {
    case ToolName::kVerdict:
      return {"verdict", "incidents", "process", "signature", "devices", "verdicts", "losses"};
    case ToolName::kSuspects: return {"verdict", "verdicts"};
    case ToolName::kWork: return {"format"};
    case ToolName::kMemory:
      if (!is_whole) return {"format"};
      return {"faults", "crash_addresses", "freed_in_flight", "memory", "kernel_log"};
    default: return {};
  }
}

json Take(json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  json value = std::move(*found);
  object.erase(found);
  return value;
}

// ---- Tools ---------------------------------------------------------------------------------------------

void AddTools(json* info) {
  const bool has_report = info->contains("snapshot");
  const bool has_trace = info->contains("trace");
  json tools = json::array();
  if (has_report) tools.insert(tools.end(), {"verdict", "suspects", "work", "memory"});
  if (has_trace) tools.insert(tools.end(), {"calls", "state", "diff"});
  if (has_trace) (*info)["tools_with_allow_run"] = {"image", "bisect"};
  (*info)["tools"] = std::move(tools);
  info->erase("chunks");
}

// Returns the names of the files; the folder is nobody else's.
std::vector<std::string> TakeImages(json* document) {
  std::vector<std::string> names;
  document->erase("folder");
  for (const json& image : document->value("images", json::array())) {
    if (!image.is_object()) continue;
    for (const json& file : image.value("files", json::array())) {
      if (file.is_string()) names.push_back(file.get<std::string>());
    }
  }
  return names;
}

// The sources of a device's marks are many, and of use to who has no answer.
void ShortenDevices(json* document) {
  const auto devices = document->find("devices");
  if (devices == document->end() || !devices->is_array()) return;
  for (json& device : *devices) {
    if (device.is_object()) device.erase("sources");
  }
}

// Takes an array out of the verdict, and joins the work of its elements from `first` on, `most` of them. `count`: of all.
std::vector<json> TakeWork(ReportRows* report, const char* key, uint64_t first, uint64_t most,
                           uint64_t* count = nullptr) {
  std::vector<json> works;
  const auto verdict = report->document().find("verdict");
  if (verdict == report->document().end() || !verdict->is_object()) return works;
  json all = Take(*verdict, key);
  if (count != nullptr) *count = all.size();
  for (uint64_t i = first; i < all.size() && works.size() < most; ++i) {
    works.push_back(report->WithItsWork(all.is_array() ? std::move(all[i]) : json()));
  }
  return works;
}

// Puts the queues with a number instead of their candidates.
void CountCandidates(json* document) {
  json queues = Take(*document, "verdicts");
  for (json& queue : queues) {
    if (queue.is_object()) queue["candidate_count"] = Take(queue, "candidates").size();
  }
  (*document)["queues"] = std::move(queues);
}

// "next_offset": null at the end.
void PutPage(const std::string& key, const std::vector<json>& rows, uint64_t matching,
             uint64_t offset, AnswerWriter* writer) {
  const uint64_t end = offset + writer->PutRows(key, rows);
  // Differences are found up to the first that this answer does not have.
  if (key != "differences") writer->Put("matching", matching);
  writer->Put("next_offset", end < matching ? json(end) : json());
}

void PutSuspects(const ToolCall& call, ReportRows* report, AnswerWriter* writer) {
  json& document = report->document();
  const bool is_verdict = call.tool == ToolName::kVerdict;
  const uint64_t first = is_verdict ? 0 : call.rows.offset;
  const uint64_t most = is_verdict ? kSuspectsOfVerdict : call.rows.limit;
  uint64_t count = 0;
  const std::vector<json> suspects = TakeWork(report, "suspects", first, most, &count);
  // A fault that shows late may have no suspect but these.
  document["last_completed"] = TakeWork(report, "last_completed", 0, kMostToolRows);
  if (is_verdict) {
    ShortenDevices(&document);
    document.erase("verdicts");
    json verdict = Take(document, "verdict");
    // Commands that name the program of the file: an agent might run them.
    if (verdict.is_object()) verdict.erase("next");
    writer->Put("verdict", std::move(verdict));  // the answer first
    writer->PutRows("suspects", suspects);
    writer->Put("suspect_count", count);
  } else {
    CountCandidates(&document);
    document.erase("verdict");
    PutPage("suspects", suspects, count, std::min(first, count), writer);
  }
  writer->PutKeys(document);
}

ToolAnswer MakeReportAnswer(const ToolCall& call, std::string_view output,
                            const std::vector<std::string>& warnings) {
  RowQuery query = call.rows;
  const bool has_suspects = call.tool == ToolName::kVerdict || call.tool == ToolName::kSuspects;
  if (has_suspects) query.table = "suspects";
  ReportRows report(query, KeptKeys(call));
  if (!report.Read(output)) {
    return {.is_error = true,
            .json = fmt::format("cairn {} printed no JSON object; please report this as a defect",
                                call.words.front())};
  }
  ToolAnswer answer;
  AnswerWriter writer;
  if (call.tool == ToolName::kImage) answer.images = TakeImages(&report.document());
  if (call.tool == ToolName::kOpen) AddTools(&report.document());
  if (has_suspects) {
    PutSuspects(call, &report, &writer);
  } else if (query.table.empty()) {
    writer.PutKeys(report.document());
  } else {
    report.document().erase("format");
    PutPage(query.table == "executions" ? "lists" : query.table, report.rows(), report.matching(),
            query.offset, &writer);
    writer.PutKeys(report.document());
  }
  answer.json = writer.Finish(warnings, report.left_out());
  return answer;
}

uint64_t NumberOf(const json& call) {
  const auto number = call.find("number");
  return number != call.end() && number->is_number_unsigned() ? number->get<uint64_t>() : 0;
}

// Cuts lines of calls down to those around one, within `most` and the bytes of an answer: the answer would be cut from the
// front to the back, and the call stands in the middle. `next`: number of the first call behind them.
std::string_view LinesAround(std::string_view output, uint64_t around, uint64_t most,
                             std::optional<uint64_t>* next) {
  struct Line {
    std::string_view text;
    uint64_t number = 0;
  };
  constexpr size_t kMostLines = 2 * kMostToolRows + 1;
  constexpr size_t kRoom = kMostAnswerBytes / 2 - 1024;  // of PutRows
  std::vector<Line> lines;
  const RowQuery none;
  while (!output.empty() && lines.size() < kMostLines) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    ReportRows read(none, {"number"});
    if (read.Read(line)) lines.push_back({line, NumberOf(read.document())});
  }
  if (lines.empty()) return {};
  size_t first = 0;
  while (first + 1 < lines.size() && lines[first].number < around) ++first;
  size_t end = first + 1;
  const auto bytes = [&](size_t from, size_t to) {
    const std::string_view last = lines[to - 1].text;
    return static_cast<size_t>(last.data() + last.size() - lines[from].text.data());
  };
  for (bool has_grown = true; has_grown && end - first < most;) {
    has_grown = false;
    if (first != 0 && bytes(first - 1, end) <= kRoom) {
      --first;
      has_grown = true;
    }
    if (end != lines.size() && end - first < most && bytes(first, end + 1) <= kRoom) {
      ++end;
      has_grown = true;
    }
  }
  if (end != lines.size()) *next = lines[end].number;
  return {lines[first].text.data(), bytes(first, end)};
}

// Lines of JSON, one more than is wanted if there are more.
ToolAnswer MakeCallsAnswer(const ToolCall& call, std::string_view output,
                           const std::vector<std::string>& warnings) {
  const RowQuery none;
  std::vector<json> calls;
  std::optional<uint64_t> next;
  if (call.around) output = LinesAround(output, *call.around, call.rows.limit, &next);
  uint64_t left_out = 0;
  size_t bytes = 0;
  while (!output.empty() && calls.size() <= call.rows.limit && bytes <= kMostCallsBytes) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    ReportRows read(none, {});
    if (!read.Read(line)) continue;
    calls.push_back(std::move(read.document()));
    left_out += read.left_out();
    bytes += line.size();
  }
  const bool is_too_much = bytes > kMostCallsBytes;
  if (is_too_much && calls.size() == 1) {
    next = NumberOf(calls.back()) + 1;
  } else if (is_too_much || calls.size() > call.rows.limit) {
    next = NumberOf(calls.back());
    calls.pop_back();
  }
  AnswerWriter writer;
  const uint64_t written = writer.PutRows("calls", calls);
  if (written < calls.size()) next = NumberOf(calls[written]);
  writer.Put("next_from", next ? json(*next) : json());
  return {.json = writer.Finish(warnings, left_out)};
}

std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0u);
    }
    const size_t digits = std::min<size_t>(bytes.size() - at, 3) + 1;
    for (size_t i = 0; i < 4; ++i) {
      text += i < digits ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

}  // namespace

ToolAnswer MakeToolAnswer(const ToolCall& call, const VerbResult& result) {
  const std::vector<std::string> warnings = WarningsIn(result);
  // A filter that nothing passes is an answer; a verb that cannot answer says why.
  const bool may_be_empty = call.tool == ToolName::kCalls && result.exit_code == 0;
  if (result.output.empty() && !may_be_empty) {
    std::string why(Utf8Prefix(result.errors, kMostAnswerTextBytes));
    while (!why.empty() && why.back() == '\n') why.pop_back();
    if (why.empty()) {
      return {.is_error = true,
              .json = fmt::format("cairn {} printed nothing and ended with {}", call.words.front(),
                                  result.exit_code)};
    }
    return {.is_error = true, .json = VisibleText(why)};
  }
  return call.tool == ToolName::kCalls ? MakeCallsAnswer(call, result.output, warnings)
                                       : MakeReportAnswer(call, result.output, warnings);
}

void AddTexts(std::string_view key, std::span<const std::string> texts, ToolAnswer* answer) {
  std::string list;
  JsonWriter writer(&list, JsonWriter::kOneLine);
  writer.BeginArray();
  for (const std::string& text : texts.first(std::min(texts.size(), kMostNamed))) {
    writer.String(Utf8Prefix(text, kMostAnswerTextBytes));
  }
  writer.EndArray();
  // Behind the object's last key; it is never empty.
  answer->json.insert(answer->json.size() - 1, fmt::format(",\"{}\":{}", key, list));
}

std::string ToolResultJson(const ToolAnswer& answer, const std::vector<std::string>& images,
                           bool is_structured) {
  std::string text;
  JsonWriter writer(&text, JsonWriter::kOneLine);
  writer.BeginObject();
  writer.BeginArray("content");
  writer.BeginObject();
  writer.StringKey("type", "text");
  writer.StringKey("text", answer.json);
  writer.EndObject();
  for (const std::string& image : images) {
    writer.BeginObject();
    writer.StringKey("type", "image");
    writer.StringKey("data", Base64(image));
    writer.StringKey("mimeType", "image/png");
    writer.EndObject();
  }
  writer.EndArray();
  if (is_structured && !answer.is_error) writer.JsonKey("structuredContent", answer.json);
  writer.BoolKey("isError", answer.is_error);
  writer.EndObject();
  return text;
}

}  // namespace cairn
