// SPDX-License-Identifier: Apache-2.0
//
// The texts of `cairn why`, apart from the program for its test.
#ifndef CAIRN_READER_VIEW_WHY_TEXT_H_
#define CAIRN_READER_VIEW_WHY_TEXT_H_

#include <cstdint>
#include <string>

#include "reader/why/why_search.h"

namespace cairn::cli {

struct WhyTold {
  std::string program;  // as a shell takes it
  WhyFound found;
  double hang_timeout_seconds = 0;
  double survive_seconds = 0;  // 0: runs end by themselves
  uint64_t duration_ns = 0;
};

// Ends with a line break.
std::string WhyAsText(const WhyTold& told);
// docs/formats/why.schema.json.
std::string WhyAsJson(const WhyTold& told);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_WHY_TEXT_H_
