// SPDX-License-Identifier: Apache-2.0
//
// The question of the experiment "robust": does it fail where accesses outside do no harm?
#include <fmt/format.h>

#include <bit>

#include "reader/why/why_search.h"

namespace cairn {
namespace {

// Returns why no device got a feature more.
std::string WhyNotRobust(const RobustDevices& devices) {
  std::string why;
  const auto add = [&why](RobustFeatures features, const char* before, const char* behind) {
    if (features == 0) return;
    if (!why.empty()) why += "; ";
    why += fmt::format("{}{}{}", before, fmt::join(NamesOf(features), ", "), behind);
  };
  add(devices.own, "the program enables ", " itself");
  add(devices.left, "the layers could not enable ", "");
  add(devices.missing, "the device does not have ", "");
  return why.empty() ? "the layers changed nothing" : why;
}

}  // namespace

Status WhySearch::AskRobust(const Experiment& experiment, WhyResult* result) {
  CAIRN_RETURN_IF_ERROR(AskOne(experiment, result));
  if (result->verdict == WhyVerdict::kNotAsked) return {};
  result->robust = RobustDevicesOf(numbers_[FormatExperiment(experiment)]);
  result->changes = static_cast<uint64_t>(std::popcount(result->robust.enabled));
  if (result->changes == 0) {
    result->verdict = WhyVerdict::kDoesNotApply;
    result->why = WhyNotRobust(result->robust);
    return {};
  }
  if (!Helps(result->verdict)) return {};
  return ConfirmWithoutControl(experiment, result);
}

}  // namespace cairn
