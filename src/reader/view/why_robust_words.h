// SPDX-License-Identifier: Apache-2.0
//
// The words of `cairn why` for the experiment "robust".
#ifndef CAIRN_READER_VIEW_WHY_ROBUST_WORDS_H_
#define CAIRN_READER_VIEW_WHY_ROBUST_WORDS_H_

#include <string>
#include <vector>

#include "reader/why/why_search.h"

namespace cairn::cli {

// Sentences behind a cause of that experiment: what was enabled, what the access can be, given what became of the
// experiment "bounds", and why it is no more than likely.
std::vector<std::string> RobustInWords(const WhyFound& found, const WhyResult& result);

// Features that the experiment did not enable, with the reason of each: if the failure stays, what these cover may be the
// cause. None of other experiments.
std::vector<std::string> RobustDoubts(const WhyResult& result);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_WHY_ROBUST_WORDS_H_
