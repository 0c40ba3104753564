// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of `cairn diff`: the verb and calls (diff.cc), and images (diff_images.cc).
#ifndef CAIRN_CLI_DIFF_H_
#define CAIRN_CLI_DIFF_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "format/trace/frame_range.h"

namespace cairn::cli {

// The same value as diff(1).
inline constexpr int kExitDifferent = 1;
inline constexpr int kExitTrouble = 2;

struct DiffOptions {
  std::string paths[2];
  std::string frames_text;
  std::string folder;
  std::string library;
  std::string adapter;
  std::string limit_text = "100";
  FrameRange frames;   // `frames_text`, read
  uint64_t limit = 0;  // `limit_text`, read
  bool images = false;
  bool json = false;
  bool align = false;
};

// Prints it; kExitTrouble.
int Trouble(const Status& status);

// Exit codes.
int DiffFolders(const DiffOptions& options);
int DiffPlaybacks(const DiffOptions& options);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_DIFF_H_
