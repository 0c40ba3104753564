// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/spirv/control_flow.h"
#include "app/spirv/loop_finder.h"
#include "app/spirv/loop_report.h"
#include "app/spirv/loop_rewriter.h"
#include "app/spirv/module.h"
#include "app/spirv/module_bounds.h"
#include "app/spirv/new_modes.h"
#include "app/spirv/valid_loops.h"
#include "app/spirv/valid_module.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

// How often a module may be validated to find the loops that make it invalid. Fewer times for a large one.
uint32_t MostTries(size_t words) {
  constexpr size_t kMostWordsTogether = size_t{8} << 20;
  return static_cast<uint32_t>(std::clamp<size_t>(kMostWordsTogether / (words + 1), 8, 64));
}

Loop Described(const Function& function, const FoundLoop& found, const SourcePlaces& places) {
  Loop loop;
  loop.function = function.id();
  loop.cannot = found.cannot;
  const Block& header = function.blocks[found.header];
  const auto merge = static_cast<size_t>(header.merge() - header.instructions.data());
  loop.place = places.PlaceOf(function, std::span(header.instructions).first(merge + 1));
  if (found.exit) {
    loop.exit =
        ExitCondition{places.NameOf(found.exit->left.id), places.NameOf(found.exit->right.id),
                      std::string(found.exit->sign), found.exit->is_float, found.exit->is_signed};
  }
  return loop;
}

// Limits sets of loops of one module, which stays as it was.
class ModuleLimiter {
 public:
  ModuleLimiter(Module& module, const std::vector<ControlFlow>& flows, const LoopLimits& limits)
      : module_(module), flows_(flows), limits_(limits) {
    const SourcePlaces places(module);
    for (size_t f = 0; f < module.functions.size(); ++f) {
      for (FoundLoop& loop : FindLoops(module, module.functions[f], flows[f])) {
        described_.push_back(Described(module.functions[f], loop, places));
        found_.push_back({f, std::move(loop)});
      }
    }
  }

  // All, with the reasons why some cannot be limited as far as they are known.
  std::vector<Loop>& loops() { return described_; }

  // Adds what loops report with. Once, before Words().
  Status PrepareReport(InvocationKind* invocations) {
    types_.emplace(module_);
    report_.emplace(module_, *types_);
    CAIRN_RETURN_IF_ERROR(report_->status());
    report_->AddFunction();
    *invocations = report_->invocations();
    return {};
  }

  // The module with these loops limited, in their order, but those that turn out to be none that can be.
  std::vector<uint32_t> Words(const std::vector<uint32_t>& loops) {
    std::vector<std::pair<size_t, Function>> originals;
    for (size_t begin = 0, end = 0; begin < loops.size(); begin = end) {
      const size_t f = found_[loops[begin]].function;
      while (end < loops.size() && found_[loops[end]].function == f) ++end;
      Function limited = LimitFunction(f, {loops.begin() + static_cast<ptrdiff_t>(begin),
                                           loops.begin() + static_cast<ptrdiff_t>(end)});
      originals.emplace_back(f, std::exchange(module_.functions[f], std::move(limited)));
    }
    std::vector<uint32_t> words = module_.Words();
    for (auto& [f, function] : originals) module_.functions[f] = std::move(function);
    return words;
  }

 private:
  struct InFunction {
    size_t function;
    FoundLoop loop;
  };

  Function LimitFunction(size_t f, std::vector<uint32_t> loops) {
    constexpr uint32_t kMostTries = 16;
    for (uint32_t tries = 0;; ++tries) {
      std::erase_if(loops, [&](uint32_t i) { return !described_[i].cannot.empty(); });
      Function function = module_.functions[f];
      if (loops.empty()) return function;
      LoopRewriter rewriter(module_, function, flows_[f], *types_, *report_);
      for (uint32_t i : loops)
        rewriter.Limit(found_[i].loop, limits_.trips, limits_.records + sizeof(LoopRecord) * i);
      const std::vector<LostValue> lost = rewriter.Finish();
      if (lost.empty()) return function;
      for (const LostValue& value : lost) {
        if (Refuse(f, loops, value) && tries < kMostTries) continue;
        for (uint32_t i : loops) described_[i].cannot = value.why;
        break;
      }
    }
  }

  // Refuses the loops whose added branch leads around a value to where only ways behind it led. False: none.
  bool Refuse(size_t f, const std::vector<uint32_t>& loops, const LostValue& value) {
    const ControlFlow& flow = flows_[f];
    bool any = false;
    // A block behind an endless loop is led to by nothing else: only if no other branch is the cause.
    for (const bool behind_endless : {false, true}) {
      for (uint32_t i : loops) {
        const FoundLoop& loop = found_[i].loop;
        if (flow.Dominates(value.block, loop.back)) continue;
        if (behind_endless ? flow.IsReachable(loop.after)
                           : !flow.Dominates(value.block, loop.after))
          continue;
        described_[i].cannot = value.why;
        any = true;
      }
      if (any) break;
    }
    return any;
  }

  Module& module_;
  const std::vector<ControlFlow>& flows_;
  const LoopLimits& limits_;
  std::optional<BasicTypes> types_;
  std::optional<LoopReport> report_;
  std::vector<InFunction> found_;
  std::vector<Loop> described_;
};

// LimitLoops for a module of which SPIRV-Tools knows everything. No words where no loop is limited.
Result<LimitedModule> LimitKnown(std::span<const uint32_t> words, const LoopLimits& limits) {
  Result<ValidModule> read = ReadValid(words);
  if (!read.ok()) return read.status();
  ModuleLimiter limiter(read->module, read->flows, limits);
  std::vector<Loop>& loops = limiter.loops();
  if (limits.only && *limits.only >= loops.size()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("loop {} is asked for, counted from 0, and the module has {}",
                              *limits.only, loops.size()));
  }
  std::vector<uint32_t> chosen;
  for (uint32_t i = 0; i < loops.size(); ++i) {
    if (loops[i].cannot.empty() && (!limits.only || *limits.only == i)) chosen.push_back(i);
  }
  LimitedModule limited;
  if (!chosen.empty()) {
    CAIRN_RETURN_IF_ERROR(limiter.PrepareReport(&limited.invocations));
    const auto try_with = [&](const std::vector<uint32_t>& with) {
      std::vector<uint32_t> changed = limiter.Words(with);
      Status valid = Validate(changed);
      if (valid.ok()) limited.words = std::move(changed);
      return valid.ok() ? valid
                        : Status(StatusCode::kUnsupported,
                                 "the changed module is not valid: " + valid.message());
    };
    const Result<ValidLoops> valid = KeepValidLoops(chosen, MostTries(words.size()), try_with);
    if (!valid.ok()) return valid.status();
    for (const auto& [i, why] : valid->refused) {
      if (loops[i].cannot.empty()) loops[i].cannot = why;
    }
    limited.limited = static_cast<uint32_t>(
        std::ranges::count_if(valid->kept, [&](uint32_t i) { return loops[i].cannot.empty(); }));
  }
  if (limited.limited == 0) limited.invocations = InvocationKind::kUnknown;
  limited.loops = std::move(loops);
  return limited;
}

}  // namespace

uint32_t CountLoops(std::span<const uint32_t> words) {
  constexpr size_t kHeaderWords = 5;
  if (words.size() < kHeaderWords || words[0] != spv::MagicNumber) return 0;
  uint32_t loops = 0;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> spv::WordCountShift;
    if (length == 0) return 0;
    loops += (words[at] & spv::OpCodeMask) == spv::OpLoopMerge;
    at += length;
  }
  return loops;
}

Result<LimitedModule> LimitLoops(std::span<const uint32_t> words, const LoopLimits& limits) {
  CAIRN_RETURN_IF_ERROR(CheckSize(words));
  const NewModes modes(words);
  Result<LimitedModule> limited = LimitKnown(modes.rest(), limits);
  if (!limited.ok()) return limited;
  if (limited->limited == 0) {
    limited->words.assign(words.begin(), words.end());
  } else {
    modes.PutBack(&limited->words);
  }
  return limited;
}

}  // namespace cairn::spirv
