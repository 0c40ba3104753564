// SPDX-License-Identifier: Apache-2.0
#include "format/experiment/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

namespace cairn {
namespace {

struct ChangeWord {
  Change change;
  std::string_view word;
};
constexpr ChangeWord kWords[] = {
    {Change::kNone, ""},
    {Change::kBarrierBefore, "barrier-before"},
    {Change::kBarrierAfter, "barrier-after"},
    {Change::kSerialQueues, "serial-queues"},
    {Change::kKeepAlive, "keep-alive"},
    {Change::kRobust, "robust"},
};

// Takes "NAME=VALUE" up to the next comma off `text`.
std::optional<std::string_view> TakeValue(std::string_view name, std::string_view* text) {
  if (!text->starts_with(name)) return std::nullopt;
  std::string_view rest = text->substr(name.size());
  if (!rest.starts_with('=')) return std::nullopt;
  rest.remove_prefix(1);
  const size_t end = rest.find(',');
  const std::string_view value = rest.substr(0, end);
  // A comma has something behind it.
  if (end != std::string_view::npos && end + 1 == rest.size()) return std::nullopt;
  *text = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return value;
}

template <typename T>
std::optional<T> Number(std::optional<std::string_view> text, int base, size_t digits = 0) {
  T value = 0;
  if (!text || text->empty() || (digits != 0 && text->size() != digits)) return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, value, base);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

constexpr EmptiedStage kStages[] = {EmptiedStage::kVertex, EmptiedStage::kFragment,
                                    EmptiedStage::kCompute};

constexpr std::string_view kSkips = "skip", kCounts = "count";

bool TakeShaders(std::string_view* text, std::vector<uint64_t>* shaders) {
  while (text->starts_with("shader=")) {
    const auto shader = Number<uint64_t>(TakeValue("shader", text), 16, 16);
    if (!shader || shaders->size() == Experiment::kMostShaders) return false;
    shaders->push_back(*shader);
  }
  return true;
}

std::string FormatShaders(const Experiment& experiment) {
  std::string text;
  for (const uint64_t shader : experiment.shaders) text += fmt::format(",shader={:016x}", shader);
  return text;
}

std::optional<Experiment> ParseLoops(std::string_view text) {
  Experiment experiment = {.change = Change::kLimitLoops};
  const auto trips = Number<uint32_t>(TakeValue("loops", &text), 10);
  if (!trips || *trips == 0) return std::nullopt;
  experiment.trips = *trips;
  if (!TakeShaders(&text, &experiment.shaders)) return std::nullopt;
  if (text.empty()) return experiment;
  experiment.loop = Number<uint32_t>(TakeValue("loop", &text), 10);
  if (!experiment.loop || !text.empty()) return std::nullopt;
  return experiment;
}

std::optional<Experiment> ParseBounds(std::string_view text) {
  Experiment experiment = {.change = Change::kCheckBounds};
  const std::optional<std::string_view> what = TakeValue("bounds", &text);
  if (what != kSkips && what != kCounts) return std::nullopt;
  experiment.only_counts = what == kCounts;
  if (!TakeShaders(&text, &experiment.shaders) || !text.empty()) return std::nullopt;
  return experiment;
}

constexpr std::string_view kKeptAndFilled = "keep-alive,memory=";

std::optional<Experiment> ParseKeptAndFilled(std::string_view text) {
  const auto fill = Number<uint8_t>(text.substr(kKeptAndFilled.size()), 16, 2);
  if (!fill) return std::nullopt;
  return Experiment{.change = Change::kKeepAlive, .fill = *fill, .fills = true};
}

std::optional<Experiment> ParseMemory(std::string_view text) {
  Experiment experiment = {.change = Change::kFillMemory};
  const auto fill = Number<uint8_t>(TakeValue("memory", &text), 16, 2);
  if (!fill || !text.empty()) return std::nullopt;
  experiment.fill = *fill;
  return experiment;
}

std::optional<Experiment> ParseStage(std::string_view text) {
  Experiment experiment = {.change = Change::kEmptyStage};
  const std::optional<std::string_view> word = TakeValue("stage", &text);
  const auto* const stage = std::find_if(std::begin(kStages), std::end(kStages),
                                         [&](EmptiedStage one) { return word == WordOf(one); });
  if (stage == std::end(kStages)) return std::nullopt;
  experiment.stage = *stage;
  if (!TakeShaders(&text, &experiment.shaders) || !text.empty()) return std::nullopt;
  return experiment;
}

constexpr std::string_view kNoBinding = "none", kPushConstants = "push-constants",
                           kInput = "input.";

std::string FormatBinding(const BindingPlace& place) {
  switch (place.from) {
    case BindingPlace::From::kDescriptor: return fmt::format("{}.{}", place.set, place.number);
    case BindingPlace::From::kPushConstants: return std::string(kPushConstants);
    case BindingPlace::From::kVertexInput: return fmt::format("{}{}", kInput, place.number);
    case BindingPlace::From::kNone: break;
  }
  return std::string(kNoBinding);
}

std::optional<BindingPlace> ParseBindingPlace(std::string_view text) {
  if (text == kNoBinding) return BindingPlace{};
  if (text == kPushConstants) return BindingPlace{.from = BindingPlace::From::kPushConstants};
  if (text.starts_with(kInput)) {
    const auto location = Number<uint32_t>(text.substr(kInput.size()), 10);
    if (!location) return std::nullopt;
    return BindingPlace{.from = BindingPlace::From::kVertexInput, .number = *location};
  }
  const size_t dot = std::min(text.find('.'), text.size());
  const auto set = Number<uint32_t>(text.substr(0, dot), 10);
  const auto number = Number<uint32_t>(text.substr(std::min(dot + 1, text.size())), 10);
  if (!set || !number) return std::nullopt;
  return BindingPlace{BindingPlace::From::kDescriptor, *set, *number};
}

std::optional<Experiment> ParseBinding(std::string_view text) {
  Experiment experiment = {.change = Change::kEmptyBinding};
  const std::optional<std::string_view> word = TakeValue("binding", &text);
  const std::optional<BindingPlace> place =
      word ? ParseBindingPlace(*word) : std::optional<BindingPlace>();
  if (!place || !TakeShaders(&text, &experiment.shaders) || !text.empty()) return std::nullopt;
  experiment.binding = *place;
  return experiment;
}

std::optional<Experiment> ParseCounts(std::string_view text) {
  Experiment experiment = {.change = Change::kLimitCounts};
  const auto counts = Number<uint32_t>(TakeValue("counts", &text), 10);
  if (!counts || *counts == 0 || !text.empty()) return std::nullopt;
  experiment.counts = *counts;
  return experiment;
}

std::optional<Experiment> ParseTime(std::string_view text) {
  Experiment experiment = {.change = Change::kMoreTime};
  const auto times = Number<uint32_t>(TakeValue("time", &text), 10);
  if (!times || *times < 2 || !text.empty()) return std::nullopt;
  experiment.times = *times;
  return experiment;
}

}  // namespace

std::string_view WordOf(EmptiedStage stage) {
  switch (stage) {
    case EmptiedStage::kVertex: return "vertex";
    case EmptiedStage::kFragment: return "fragment";
    case EmptiedStage::kCompute: return "compute";
  }
  return "";
}

std::string FormatExperiment(const Experiment& experiment) {
  if (experiment.change == Change::kFillMemory)
    return fmt::format("memory={:02x}", experiment.fill);
  if (experiment.change == Change::kKeepAlive && experiment.fills)
    return fmt::format("{}{:02x}", kKeptAndFilled, experiment.fill);
  if (experiment.change == Change::kEmptyStage) {
    return fmt::format("stage={}{}", WordOf(experiment.stage), FormatShaders(experiment));
  }
  if (experiment.change == Change::kEmptyBinding) {
    return fmt::format("binding={}{}", FormatBinding(experiment.binding),
                       FormatShaders(experiment));
  }
  if (experiment.change == Change::kLimitCounts) return fmt::format("counts={}", experiment.counts);
  if (experiment.change == Change::kMoreTime) return fmt::format("time={}", experiment.times);
  if (experiment.change == Change::kLimitLoops) {
    std::string text = fmt::format("loops={}", experiment.trips) + FormatShaders(experiment);
    if (experiment.loop) text += fmt::format(",loop={}", *experiment.loop);
    return text;
  }
  if (experiment.change == Change::kCheckBounds) {
    return fmt::format("bounds={}{}", experiment.only_counts ? kCounts : kSkips,
                       FormatShaders(experiment));
  }
  for (const ChangeWord& known : kWords) {
    if (known.change == experiment.change) return std::string(known.word);
  }
  return "";
}

std::optional<Experiment> ParseExperiment(std::string_view text) {
  if (text.starts_with("loops=")) return ParseLoops(text);
  if (text.starts_with("bounds=")) return ParseBounds(text);
  if (text.starts_with("memory=")) return ParseMemory(text);
  if (text.starts_with(kKeptAndFilled)) return ParseKeptAndFilled(text);
  if (text.starts_with("stage=")) return ParseStage(text);
  if (text.starts_with("binding=")) return ParseBinding(text);
  if (text.starts_with("counts=")) return ParseCounts(text);
  if (text.starts_with("time=")) return ParseTime(text);
  for (const ChangeWord& known : kWords) {
    if (known.word == text) return Experiment{.change = known.change};
  }
  return std::nullopt;
}

}  // namespace cairn
