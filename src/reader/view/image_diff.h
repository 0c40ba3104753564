// SPDX-License-Identifier: Apache-2.0
//
// Finds images that differ: of two playbacks frame by frame, or of two folders file by file.
#ifndef CAIRN_READER_VIEW_IMAGE_DIFF_H_
#define CAIRN_READER_VIEW_IMAGE_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "d3d12abi/image_formats.h"
#include "format/trace/frame_range.h"
#include "format/trace/trace_reader.h"
#include "reader/replay/player.h"

namespace cairn::cli {

// One image of each side, or of one side only.
struct ImagePair {
  std::string what;  // "frame 12", "a.png"
  std::string file;  // for the picture of the difference
  bool present[2] = {};
  bool same = false;
  ImageDifference difference;
  std::string problem;  // why a difference cannot be measured; for people
};

// False stops: kInvalidArgument, "stopped".
using DiffProgress = std::function<bool(uint64_t done, uint64_t total)>;

struct PlaybackDiffOptions {
  FrameRange frames;
  std::string library;  // the Direct3D 12 that plays; "" for the usual one
  std::string adapter;  // PlayerOptions::adapter
  DiffProgress progress;
  // Called before each playback of a side, and after its first one; either may be empty.
  std::function<void(size_t side, PlayerOptions*)> on_begin;
  std::function<void(size_t side, const PlayerResult&)> on_end;
};

// Plays both traces for their hashes, which show the frames that differ, then again for the pixels
// of these frames, 32 at most to limit memory. Returns a pair for each frame that has an image.
// Errors: kInvalidArgument: no frame in common; those of Player, with the side's name.
Result<std::vector<ImagePair>> ComparePlaybacks(TraceReader (&traces)[2],
                                                const std::string (&names)[2],
                                                const PlaybackDiffOptions& options);

// A pair for each name of a PNG file. Errors: kIo, kCorrupt; kInvalidArgument: no PNG file in either.
Result<std::vector<ImagePair>> CompareFolders(const std::string (&folders)[2],
                                              const DiffProgress& progress);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_IMAGE_DIFF_H_
