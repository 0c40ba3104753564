// SPDX-License-Identifier: Apache-2.0
//
// The texts of `cairn why`, apart from the program for its test.
#ifndef CAIRN_READER_VIEW_WHY_TEXT_H_
#define CAIRN_READER_VIEW_WHY_TEXT_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/json_writer.h"
#include "reader/why/why_search.h"

namespace cairn::cli {

struct WhyTold {
  std::string program;  // as a shell takes it; of a trace its file
  bool is_trace = false;
  WhyFound found;
  std::string driver;  // of the device; "" if it is not known
  std::map<uint64_t, std::string>
      pipelines;  // their names, by hashes of shaders (culprit_shaders.h)
  uint32_t trips = 65536;
  uint32_t counts = 1 << 24;
  double hang_timeout_seconds = 10;
  double survive_seconds = 0;  // 0: runs end by themselves
  uint64_t duration_ns = 0;
};

// Ends with a line break.
std::string WhyAsText(const WhyTold& told);
// The part behind the answer of `cairn bisect`: the same without what that has said. Begins with an empty line.
std::string WhyBehindBisect(const WhyTold& told);
// For a bug tracker, as CommonMark. Text of the program, of its shaders and of the driver stands in code spans.
std::string WhyAsMarkdown(const WhyTold& told);
// docs/formats/why.schema.json.
std::string WhyAsJson(const WhyTold& told, int line_levels = JsonWriter::kManyLines);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_WHY_TEXT_H_
