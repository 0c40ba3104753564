// SPDX-License-Identifier: Apache-2.0
//
// The questions of a page about its file, and the command lines that answer them. docs/reference/viewer.md
// has the questions.
#ifndef CAIRN_READER_SERVE_FILE_QUESTION_H_
#define CAIRN_READER_SERVE_FILE_QUESTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace cairn {

enum class Asked {
  kPage,
  kCalls,
  kCount,
  kLine,
  kOutline,
  kState,
  kObjects,
  kImages,  // an order
  kImage,
  kFrameImages,  // an order
  kOtherImages,  // of a frame of the second file; an order
  kOtherImage,
  kCompare,
  kStartBisect,  // an order
  kStopBisect,   // an order
  kBisect,
};

struct FileQuestion {
  static constexpr size_t kMostObjects = 16;

  Asked asked = Asked::kPage;
  std::optional<uint64_t> first, count, from, number, call, thread, frame;
  std::optional<uint64_t> completed;  // images of work that had ended alone, if it is not 0
  std::optional<uint64_t>
      page;  // which one asks: its newest question for images is the one that counts
  std::string function, object, text;
  std::string moment;             // "before", "after", ""
  std::vector<uint64_t> objects;  // kMostObjects at most
  std::string
      name;  // of a file without its folder; neither "" nor hidden, where an image is asked for
};

// `target`: "calls?first=256&count=256", the address behind the secret as it came. `is_order`: by POST. A value that is
// empty was not given. Errors, for people: kNotFound, nothing has this name; kInvalidArgument, a value is missing, is
// given twice, has no use in this question, or is not written as it has to be.
Result<FileQuestion> ReadFileQuestion(std::string_view target, bool is_order);

// A question about one of many files: "dump/17/calls?first=0".
struct DumpQuestion {
  uint64_t number;
  std::string_view rest;  // what the file is asked, of the text that was read
};
// Nothing if `target` is no such question.
std::optional<DumpQuestion> ReadDumpQuestion(std::string_view target);

// The arguments of verbs that do not come from the question, as absolute paths.
struct QuestionPaths {
  std::string file;
  std::string other;
  std::string images;        // a folder for them
  std::string other_images;  // and for those of the other file
  std::string journal;       // of the search
};

// Returns the words behind "cairn" of the verb that answers; none, if no verb does. Only numbers of
// the page's text get into them.
std::vector<std::string> VerbFor(const FileQuestion& question, const QuestionPaths& paths);

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_FILE_QUESTION_H_
