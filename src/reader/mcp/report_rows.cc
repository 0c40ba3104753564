// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/report_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace cairn {
namespace {

using nlohmann::json;

constexpr size_t kMostDepth = 64;
constexpr uint64_t kMostKeptValues = 500'000;  // some 50 MiB
constexpr size_t kMostPathParts = 64;
constexpr size_t kMostPathBytes = 2048;

// `fallback` where there is no such key, or its value is no number.
uint64_t NumberAt(const json& row, const char* key, uint64_t fallback) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number_unsigned() ? found->get<uint64_t>() : fallback;
}

const std::string& TextAt(const json& row, const char* key) {
  static const std::string kNoText;
  const auto found = row.find(key);
  const std::string* const text =
      found == row.end() ? nullptr : found->get_ptr<const std::string*>();
  return text == nullptr ? kNoText : *text;
}

std::optional<uint64_t> ReadHex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || rest != text.data() + text.size() || text.empty()) return {};
  return value;
}

bool ContainsInAnyCase(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  const auto alike = [&lower](char a, char b) { return lower(a) == lower(b); };
  return part.empty() ||
         std::search(text.begin(), text.end(), part.begin(), part.end(), alike) != text.end();
}

}  // namespace

bool ReportRows::IsKept(std::string_view key) const {
  return kept_.empty() || std::ranges::find(kept_, key) != kept_.end();
}

bool ReportRows::IsScanned(std::string_view key) const {
  if (key.empty()) return false;
  if (key == query_.table) return true;
  const bool joins = query_.table == "scopes" || query_.table == "suspects";
  return joins && (key == "scopes" || key == "executions" || key == "pipelines");
}

// Builds the document from the parser's events: what is not kept is never made, rows of tables go to TakeRow one by
// one, and beyond kMostKeptValues nothing is added.
class ReportRows::Picker : public nlohmann::json_sax<json> {
 public:
  explicit Picker(ReportRows* rows) : rows_(*rows) {}

  bool null() override { return Leaf(json()); }
  bool boolean(bool value) override { return Leaf(json(value)); }
  bool number_integer(json::number_integer_t value) override { return Leaf(json(value)); }
  bool number_unsigned(json::number_unsigned_t value) override { return Leaf(json(value)); }
  bool number_float(json::number_float_t value, const std::string&) override {
    return Leaf(json(value));
  }
  bool string(std::string& value) override { return Leaf(json(std::move(value))); }
  bool binary(json::binary_t&) override { return false; }  // JSON has none

  bool start_object(size_t) override {
    const bool is_row = open_.size() == 2 && rows_.IsScanned(rows_.key_);
    if (is_row) kept_before_row_ = rows_.kept_values_;
    return Open(json::object());
  }
  bool key(std::string& key) override {
    key_ = std::move(key);
    if (open_.size() == 1) {
      rows_.key_ = key_;
      rows_.index_ = 0;
    }
    return true;
  }
  bool end_object() override {
    json* const object = Close();
    if (object == nullptr || open_.size() != 2 || !rows_.IsScanned(rows_.key_)) return true;
    if (!rows_.TakeRow(*object)) rows_.kept_values_ = kept_before_row_;
    open_.back()->get_ref<json::array_t&>().pop_back();
    return true;
  }
  bool start_array(size_t) override { return Open(json::array()); }
  bool end_array() override {
    Close();
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Leaf(json value) {
    if (open_.size() == 2 && rows_.IsScanned(rows_.key_)) {  // rows of losses are texts
      json row = {{"text", std::move(value)}};
      (void)rows_.TakeRow(row);
      return true;
    }
    Add(std::move(value));
    return !open_.empty();  // the document is an object
  }

  bool Open(json value) {
    if (open_.size() == kMostDepth || (open_.empty() && !value.is_object())) return false;
    open_.push_back(Add(std::move(value)));
    return true;
  }

  json* Close() {
    json* const closed = open_.back();
    open_.pop_back();
    return closed;
  }

  // Returns where it stands; null: it is left out, with all that is in it.
  json* Add(json value) {
    if (open_.empty()) return &(rows_.document_ = std::move(value));
    json* const parent = open_.back();
    const bool is_wanted = open_.size() != 1 || rows_.IsKept(key_) || rows_.IsScanned(key_);
    if (parent == nullptr || !is_wanted) return nullptr;
    if (rows_.kept_values_ == kMostKeptValues) {
      ++rows_.left_out_;
      return nullptr;
    }
    ++rows_.kept_values_;
    if (parent->is_object()) return &((*parent)[key_] = std::move(value));
    parent->push_back(std::move(value));
    return &parent->back();
  }

  ReportRows& rows_;
  std::vector<json*> open_;  // objects and arrays around the next value; null: left out
  std::string key_;          // of the next value in an object
  uint64_t kept_before_row_ = 0;
};

bool ReportRows::Read(std::string_view text) {
  Picker picker(this);
  if (!json::sax_parse(text.begin(), text.end(), &picker)) return false;
  std::erase_if(document_.get_ref<json::object_t&>(),
                [this](const auto& entry) { return IsScanned(entry.first); });
  FindBindings();
  return true;
}

bool ReportRows::TakeRow(json& row) {
  const uint64_t index = index_++;
  if (key_ == "executions") {
    trees_.push_back({NumberAt(row, "first_scope", kNone), NumberAt(row, "scope_count", 0)});
    is_sorted_ = false;
    json list = {{"index", index}};
    for (const char* const key : {"name", "state", "frame", "queue", "submission_number"}) {
      if (const auto found = row.find(key); found != row.end()) list[key] = *found;
    }
    lists_.push_back(std::move(list));
  } else if (key_ == "pipelines") {
    pipelines_.push_back(row.dump());
  } else if (key_ == "scopes") {
    NoteScope(row);
  }
  if (key_ != query_.table) return false;
  row["index"] = index;
  if (key_ == "scopes") {
    const std::optional<uint64_t> list = ListOf(index);
    row["list"] = list ? json(*list) : json();
    row["path"] = PathOf(index);
  }
  if (!Matches(row) || matching_++ < query_.offset || rows_.size() == query_.limit) return false;
  rows_.push_back(std::move(row));
  return true;
}

void ReportRows::NoteScope(const json& row) {
  Scope scope;
  scope.label = TextAt(row, "type");
  if (const uint64_t ordinal = NumberAt(row, "ordinal", 0); ordinal != 0) {
    scope.label += fmt::format(" #{}", ordinal);
  }
  const std::string& name = TextAt(row, "name");
  if (!name.empty() && NumberAt(row, "ordinal", 0) == 0)
    scope.label = name;
  else if (!name.empty())
    scope.label += fmt::format(": {}", name);
  scope.state = TextAt(row, "state");
  scope.parent = NumberAt(row, "parent", kNone);
  scope.pipeline = NumberAt(row, "pipeline", kNone);
  scope.call = NumberAt(row, "call", 0);
  scopes_.push_back(std::move(scope));
}

bool ReportRows::Matches(const json& row) const {
  if (!query_.state.empty() && TextAt(row, "state") != query_.state) return false;
  if (!query_.name.empty() && !ContainsInAnyCase(TextAt(row, "path"), query_.name) &&
      !ContainsInAnyCase(TextAt(row, "name"), query_.name) &&
      !ContainsInAnyCase(TextAt(row, "text"), query_.name)) {
    return false;
  }
  if (query_.list && NumberAt(row, "list", kNone) != *query_.list) return false;
  if (query_.address.empty()) return true;
  const std::optional<uint64_t> wanted = ReadHex(query_.address);
  const std::optional<uint64_t> first = ReadHex(TextAt(row, "gpu_address"));
  return wanted && first && *first != 0 && *wanted >= *first &&
         *wanted - *first < NumberAt(row, "size", 0);
}

std::string ReportRows::PathOf(uint64_t scope) const {
  std::vector<std::string_view> parts;
  size_t bytes = 0;
  // Parents stand in front of what they contain: a file that says otherwise leads nowhere.
  for (uint64_t at = scope; at < scopes_.size() && parts.size() < kMostPathParts;) {
    parts.push_back(scopes_[at].label);
    bytes += scopes_[at].label.size();
    if (bytes > kMostPathBytes || scopes_[at].parent >= at) break;
    at = scopes_[at].parent;
  }
  std::ranges::reverse(parts);
  return fmt::format("{}", fmt::join(parts, " > "));
}

void ReportRows::SortTrees() {
  const auto first_scope = [this](uint64_t list) { return trees_[list].first_scope; };
  sorted_lists_.clear();
  for (uint64_t i = 0; i < trees_.size(); ++i) {
    if (trees_[i].scope_count != 0) sorted_lists_.push_back(i);
  }
  std::ranges::stable_sort(sorted_lists_, {}, first_scope);
  const auto alike = [&](uint64_t a, uint64_t b) { return first_scope(a) == first_scope(b); };
  sorted_lists_.erase(std::unique(sorted_lists_.begin(), sorted_lists_.end(), alike),
                      sorted_lists_.end());
  is_sorted_ = true;
}

std::optional<uint64_t> ReportRows::ListOf(uint64_t scope) {
  const std::optional<uint64_t>& wanted = query_.list;
  if (wanted && *wanted < trees_.size() && trees_[*wanted].Has(scope)) return wanted;
  if (!is_sorted_) SortTrees();
  const auto behind = std::ranges::upper_bound(
      sorted_lists_, scope, {}, [this](uint64_t list) { return trees_[list].first_scope; });
  if (behind == sorted_lists_.begin()) return {};
  const uint64_t list = *std::prev(behind);
  return trees_[list].Has(scope) ? std::optional(list) : std::nullopt;
}

void ReportRows::FindBindings() {
  const auto verdicts = document_.find("verdicts");
  if (verdicts == document_.end() || !verdicts->is_array()) return;
  for (const json& queue : *verdicts) {
    const auto candidates = queue.find("candidates");
    if (candidates == queue.end()) continue;
    for (const json& candidate : *candidates) {
      const uint64_t scope = NumberAt(candidate, "scope", kNone);
      const auto bindings = candidate.find("bindings");
      if (scope != kNone && bindings != candidate.end()) bindings_.emplace(scope, &*bindings);
    }
  }
}

json ReportRows::WithItsWork(json suspect) const {
  if (!suspect.is_object()) return suspect;
  const uint64_t index = NumberAt(suspect, "scope", kNone);
  const uint64_t list = NumberAt(suspect, "execution", kNone);
  if (index < scopes_.size()) {
    const Scope& scope = scopes_[index];
    suspect["path"] = PathOf(index);
    suspect["state"] = scope.state;
    if (scope.call != 0) suspect["call"] = scope.call;
    if (scope.pipeline < pipelines_.size()) {
      suspect["pipeline"] = json::parse(pipelines_[scope.pipeline], nullptr, false);
    }
  }
  if (list < lists_.size()) suspect["list"] = lists_[list];
  if (const auto found = bindings_.find(index); found != bindings_.end()) {
    suspect["bindings"] = *found->second;
  }
  return suspect;
}

}  // namespace cairn
