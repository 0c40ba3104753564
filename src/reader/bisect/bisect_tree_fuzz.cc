// SPDX-License-Identifier: Apache-2.0
//
// Finds and describes the parts that can be omitted from any trace. The input is that of
// format/trace/testing/record_fuzz_input.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "format/trace/testing/record_fuzz_input.h"
#include "reader/bisect/bisect_tree.h"
#include "reader/bisect/culprit_parts.h"

namespace cairn {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Some of each kind: there may be many, as lists may be executed again and again.
std::vector<Suspect> SuspectsIn(const BisectTree& tree) {
  constexpr size_t kMost = 30;
  std::vector<Suspect> suspects;
  for (const BisectTree::Submission& submission : tree.submissions) {
    if (suspects.size() >= kMost) break;
    suspects.push_back({Suspect::Kind::kSubmission, submission.call, 0});
    for (uint32_t i = 0; i < submission.lists.size() && suspects.size() < kMost; ++i) {
      suspects.push_back({Suspect::Kind::kList, submission.call, i});
      const std::vector<uint64_t>& calls = *submission.lists[i].calls;
      if (!calls.empty()) suspects.push_back({Suspect::Kind::kCall, calls.back(), 0});
    }
  }
  return suspects;
}

// Fails for the last part of each call; buffers hold the bytes of their offset.
void LookWithin(TraceReader* trace, const BisectTree& tree, CulpritText culprit) {
  BisectAnswer failure;
  failure.place = tree.submissions.back().call;
  failure.failed = failure.asked = 1;
  uint64_t last = 0;
  const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    last = std::max(last, question.parts->end);
    if (last == 0 || !question.parts->Has(last / 2)) return ProbeAnswer{};
    return ProbeAnswer{ProbeOutcome::kFails, failure.place};
  };
  const ReadBytes read = [](const BisectQuestion&,
                            const BytesToRead& place) -> Result<std::vector<std::byte>> {
    Require(place.size_bytes <= BytesToRead::kMostBytes);
    return std::vector<std::byte>(place.size_bytes,
                                  static_cast<std::byte>(place.offset_bytes & 0xff));
  };
  uint64_t probes = 0;
  Require(SearchWithin(trace, tree, failure, probe, read, {}, &culprit, &probes).ok());
  Require(!culprit.parts || culprit.suspect.kind == Suspect::Kind::kCall);
}

void Run(std::span<const std::byte> input) {
  TestTrace test(Compression::kNone);
  AddFuzzedRecords(input, &test);
  TraceReader trace = test.Open();
  Require(TraceMayDraw(&trace).ok());
  const Result<BisectTree> tree = ReadBisectTree(&trace);
  if (!tree.ok()) {
    Require(!tree.status().message().empty());
    return;
  }
  Require(!tree->submissions.empty());
  const std::vector<Suspect> suspects = SuspectsIn(*tree);
  const Result<std::vector<CulpritText>> texts =
      DescribeCulprits(&trace, suspects, tree->submissions.back().call);
  Require(texts.ok() && texts->size() == suspects.size());
  for (size_t i = 0; i < suspects.size(); ++i) {
    Require((*texts)[i].suspect == suspects[i]);
    // Each reads the trace again.
    constexpr size_t kMostLooked = 8;
    if (i < kMostLooked) LookWithin(&trace, *tree, (*texts)[i]);
  }
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::Run(std::as_bytes(std::span(data, size)));
  return 0;
}
