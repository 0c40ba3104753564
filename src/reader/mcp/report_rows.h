// SPDX-License-Identifier: Apache-2.0
//
// Picks parts out of the JSON that a verb has printed, without a tree of all of it in memory: a report may have
// 192 MiB. Joins what stands in several tables of a report: the path of a scope, the pipeline of a suspect.
#ifndef CAIRN_READER_MCP_REPORT_ROWS_H_
#define CAIRN_READER_MCP_REPORT_ROWS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reader/mcp/tools.h"

namespace cairn {

class ReportRows {
 public:
  // `kept`: the keys of the document that are wanted; empty: all. `query` must outlive this.
  ReportRows(const RowQuery& query, std::vector<std::string_view> kept)
      : query_(query), kept_(std::move(kept)) {}

  // Reads one document. Returns false for what is no JSON object. Call it once.
  bool Read(std::string_view text);

  // The kept keys, without the table of the query.
  nlohmann::json& document() { return document_; }
  // The rows of the query's table that match it, from its offset to its limit. Each has the key "index"; those of
  // scopes also "list" and "path".
  std::vector<nlohmann::json>& rows() { return rows_; }
  uint64_t matching() const { return matching_; }  // rows, whether they are in rows() or not
  uint64_t left_out() const { return left_out_; }  // values beyond what is kept of any document

  // Returns a suspect of the verdict with what the other tables tell of it: its path, state, call, pipeline, command
  // list, and the bindings that the kept table "verdicts" has. Words of files are used as texts alone.
  nlohmann::json WithItsWork(nlohmann::json suspect) const;

 private:
  // The scopes of a command list: executions of one that was not recorded anew share them.
  struct Tree {
    uint64_t first_scope = 0;
    uint64_t scope_count = 0;
    bool Has(uint64_t scope) const {
      return scope >= first_scope && scope - first_scope < scope_count;
    }
  };
  // A row of a table as long as the next ones need it.
  struct Scope {
    std::string label;
    std::string state;
    uint64_t parent = kNone;
    uint64_t pipeline = kNone;
    uint64_t call = 0;
  };
  static constexpr uint64_t kNone = ~uint64_t{0};
  class Picker;

  bool IsKept(std::string_view key) const;
  bool IsScanned(std::string_view key) const;
  // Returns true if the row went to rows().
  bool TakeRow(nlohmann::json& row);
  void NoteScope(const nlohmann::json& row);
  bool Matches(const nlohmann::json& row) const;
  std::string PathOf(uint64_t scope) const;
  // Returns the list that the query asks for if it has the scope, else the first one that has it.
  std::optional<uint64_t> ListOf(uint64_t scope);
  void SortTrees();
  void FindBindings();

  const RowQuery& query_;
  const std::vector<std::string_view> kept_;
  nlohmann::json document_;
  std::vector<nlohmann::json> rows_;
  uint64_t matching_ = 0;
  uint64_t kept_values_ = 0;
  uint64_t left_out_ = 0;
  std::string key_;     // of the document: what is being read
  uint64_t index_ = 0;  // of the next row in it
  std::vector<Scope> scopes_;
  std::vector<std::string> pipelines_;  // JSON
  std::vector<nlohmann::json> lists_;   // a few keys of each
  std::vector<Tree> trees_;             // of the lists
  std::vector<uint64_t> sorted_lists_;  // those with scopes by their first one, one for each tree
  bool is_sorted_ = false;
  std::unordered_map<uint64_t, const nlohmann::json*> bindings_;  // of suspects, by their scopes
};

}  // namespace cairn

#endif  // CAIRN_READER_MCP_REPORT_ROWS_H_
