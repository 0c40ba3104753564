// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/valid_loops.h"

#include <fmt/format.h>

#include <span>

namespace cairn::spirv {

Result<ValidLoops> KeepValidLoops(
    const std::vector<uint32_t>& loops, uint32_t most_tries,
    const std::function<Status(const std::vector<uint32_t>&)>& try_with) {
  ValidLoops valid;
  const Status all = try_with(loops);
  if (all.ok()) {
    valid.kept = loops;
    return valid;
  }
  CAIRN_RETURN_IF_ERROR(try_with({}));
  uint32_t tries = 2;

  struct Group {
    std::span<const uint32_t> loops;
    std::string why;  // a try refused them together; "": not tried
  };
  std::vector<Group> groups{{loops, all.message()}};  // the next one last
  while (!groups.empty()) {
    Group group = std::move(groups.back());
    groups.pop_back();
    if (group.why.empty() && tries == most_tries) {
      group.why = fmt::format(
          "the changed module is not valid, and {} tries did not find with which loops it is",
          tries);
    } else if (group.why.empty()) {
      ++tries;
      std::vector<uint32_t> with = valid.kept;
      with.insert(with.end(), group.loops.begin(), group.loops.end());
      const Status status = try_with(with);
      if (status.ok()) {
        valid.kept = std::move(with);
        continue;
      }
      group.why = status.message();
    }
    if (group.loops.size() == 1 || tries == most_tries) {
      for (uint32_t loop : group.loops) valid.refused.emplace_back(loop, group.why);
      continue;
    }
    const size_t half = group.loops.size() / 2;
    groups.push_back({group.loops.subspan(half), ""});
    groups.push_back({group.loops.first(half), ""});
  }
  return valid;
}

}  // namespace cairn::spirv
