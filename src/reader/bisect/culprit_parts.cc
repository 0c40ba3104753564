// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/culprit_parts.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "reader/bisect/indirect_call.h"
#include "reader/bisect/ray_call.h"

namespace cairn {
namespace {

class WithinCulprit {
 public:
  WithinCulprit(TraceReader* trace, const BisectTree& tree, const BisectAnswer& failure,
                const Probe& probe, const ReadBytes& read, const BisectOptions& options,
                CulpritText* culprit, uint64_t* probes)
      : trace_(trace),
        tree_(tree),
        failure_(failure),
        probe_(probe),
        read_(read),
        options_(options),
        culprit_(*culprit),
        probes_(*probes) {}

  Status Run();

 private:
  Status Search(const CallParts& parts);
  Status SearchCommands(const IndirectCall& indirect);
  Status SearchRays(const RayCall& rays);
  // Gives a word to the last of the parts that were found. `place(part)`: where it lies; `words(part, bytes)`.
  template <typename Place, typename Words>
  Status Describe(const Place& place, const Words& words);

  TraceReader* const trace_;
  const BisectTree& tree_;
  const BisectAnswer& failure_;
  const Probe& probe_;
  const ReadBytes& read_;
  const BisectOptions& options_;
  CulpritText& culprit_;
  uint64_t& probes_;
  bool fails_with_all_ = false;  // in the last Search()
};

Status WithinCulprit::Search(const CallParts& parts) {
  PartsText& text = culprit_.parts.emplace();
  text.word = parts.word;
  text.count = parts.count;
  text.count_is_limit = parts.count_is_limit;
  PartsAnswer answer;
  BisectAnswer failure = failure_;
  failure.probes = probes_;
  const Status status = SearchParts(parts, tree_, failure, probe_, options_, &answer);
  probes_ = answer.probes;
  for (const PartRange& range : answer.guilty) text.guilty.push_back({range.first, range.end, ""});
  text.needs_none = answer.needs_none;
  text.more = answer.more;
  text.all_looked_at = answer.all_looked_at;
  fails_with_all_ = answer.fails_with_all;
  return status;
}

Status WithinCulprit::SearchCommands(const IndirectCall& indirect) {
  CallParts parts = PartsOf(indirect, culprit_.suspect.call);
  if (const BytesToRead place = CountOf(indirect, culprit_.submission); place.size_bytes != 0) {
    const Result<std::vector<std::byte>> bytes = read_(QuestionBefore(tree_, culprit_), place);
    if (!bytes.ok()) return bytes.status();
    uint32_t count = 0;
    if (bytes->size() == sizeof(count)) std::memcpy(&count, bytes->data(), sizeof(count));
    // The failure shows that there is one.
    if (count != 0) {
      parts.count = std::min<uint64_t>(parts.count, count);
      parts.count_is_limit = false;
    }
  }
  Status searched = Search(parts);
  // The GPU may have counted otherwise in the failing play.
  const bool counted = indirect.count_buffer != 0 && !parts.count_is_limit;
  if (counted && searched.ok() && !fails_with_all_ && !culprit_.parts->needs_none) {
    searched = Search(PartsOf(indirect, culprit_.suspect.call));
  }
  if (searched.code() == StatusCode::kInterrupted) return searched;
  CAIRN_RETURN_IF_ERROR(
      Describe([&](uint64_t part) { return ArgumentsOf(indirect, part, culprit_.submission); },
               [&](uint64_t, std::span<const std::byte> bytes) {
                 return CommandInWords(indirect.layout, bytes);
               }));
  return searched;
}

Status WithinCulprit::SearchRays(const RayCall& rays) {
  const Status searched = Search(rays.PartsOf(culprit_.suspect.call));
  if (searched.code() == StatusCode::kInterrupted) return searched;
  CAIRN_RETURN_IF_ERROR(Describe(
      [&](uint64_t part) { return rays.PlaceOf(part, culprit_.submission); },
      [&](uint64_t part, std::span<const std::byte> bytes) { return rays.InWords(part, bytes); }));
  return searched;
}

template <typename Place, typename Words>
Status WithinCulprit::Describe(const Place& place, const Words& words) {
  const BisectQuestion before = QuestionBefore(tree_, culprit_);
  for (PartsText::Part& part : culprit_.parts->guilty) {
    const BytesToRead wanted = place(part.end - 1);
    std::vector<std::byte> bytes;
    if (wanted.size_bytes != 0) {
      Result<std::vector<std::byte>> read = read_(before, wanted);
      if (!read.ok()) return read.status();
      bytes = std::move(*read);
    }
    part.text = words(part.end - 1, bytes);
  }
  return {};
}

Status WithinCulprit::Run() {
  if (culprit_.suspect.kind != Suspect::Kind::kCall) return {};
  const Result<IndirectCall> indirect = ReadIndirectCall(trace_, culprit_.suspect.call);
  if (indirect.ok()) return SearchCommands(*indirect);
  const Result<RayCall> rays = RayCall::Read(trace_, culprit_.suspect.call);
  if (rays.ok()) return SearchRays(*rays);
  return {};
}

}  // namespace

BisectQuestion QuestionBefore(const BisectTree& tree, const CulpritText& culprit) {
  BisectQuestion question;
  question.rest_stays = true;
  question.left_out.push_back(culprit.suspect);
  if (culprit.submission == 0) return question;
  question.stop_before = culprit.submission + 1;
  const auto submission =
      std::find_if(tree.submissions.begin(), tree.submissions.end(),
                   [&](const auto& each) { return each.call == culprit.submission; });
  if (submission == tree.submissions.end()) return question;
  for (uint32_t i = culprit.list_index; i < submission->lists.size(); ++i) {
    const BisectTree::List& list = submission->lists[i];
    if (i != culprit.list_index) {
      question.left_out.push_back({Suspect::Kind::kList, culprit.submission, i});
      continue;
    }
    if (list.calls == nullptr) continue;
    for (const uint64_t call : *list.calls) {
      if (call > culprit.suspect.call) question.left_out.push_back({Suspect::Kind::kCall, call, 0});
    }
  }
  std::sort(question.left_out.begin(), question.left_out.end());
  return question;
}

Status SearchWithin(TraceReader* trace, const BisectTree& tree, const BisectAnswer& failure,
                    const Probe& probe, const ReadBytes& read, const BisectOptions& options,
                    CulpritText* culprit, uint64_t* probes) {
  return WithinCulprit(trace, tree, failure, probe, read, options, culprit, probes).Run();
}

}  // namespace cairn
