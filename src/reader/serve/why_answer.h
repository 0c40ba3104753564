// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_READER_SERVE_WHY_ANSWER_H_
#define CAIRN_READER_SERVE_WHY_ANSWER_H_

#include <string>

#include "base/status.h"

namespace cairn {

// Reads a file that `cairn why --json` wrote. Returns its text, which is JSON of that format; whether its keys are there
// is for the page to see.
// Errors: those of opening the file; kUnsupported: it is of another format or version, or larger than any answer.
Result<std::string> ReadWhyAnswer(const std::string& path);

// Writes the page of an answer alone, as one for a browser without a server behind it.
Result<std::string> PageOfWhyAnswer(const std::string& why, bool is_served);

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_WHY_ANSWER_H_
