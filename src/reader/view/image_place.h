// SPDX-License-Identifier: Apache-2.0
//
// Finds the textures that exist at a place of a trace.
#ifndef CAIRN_READER_VIEW_IMAGE_PLACE_H_
#define CAIRN_READER_VIEW_IMAGE_PLACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/status.h"
#include "format/trace/trace_reader.h"

namespace cairn::cli {

// The end of a frame, or a call; neither: the end of the trace.
struct ImagePlace {
  std::optional<uint64_t> frame;  // as the program counts
  std::optional<uint64_t> call;
};

// `wanted`, or the end of the last frame if there is nothing wanted and there are frames. kInvalidArgument, for
// people: no such frame; it begins with "--frame: ".
Result<ImagePlace> FindImagePlace(TraceReader& trace, const std::string& name,
                                  const ImagePlace& wanted);

// The objects that exist at a place.
class ImageObjects {
 public:
  // False stops: kIo, "stopped".
  using Progress = std::function<bool(uint64_t done, uint64_t total)>;

  // Reads the trace up to there. Errors: kCorrupt; kInvalidArgument: no such call.
  static Result<ImageObjects> Read(TraceReader& trace, const ImagePlace& place,
                                   const Progress& progress);

  // The textures that words mean: a number, `resource 3 "Depth"`, or a name. kInvalidArgument, for people: nothing has
  // that name, or it is no texture.
  Result<std::unordered_set<uint64_t>> Choose(std::span<const std::string> words) const;

  uint64_t shown() const { return shown_; }  // the image of the frame
  std::string NameOf(uint64_t object) const;

 private:
  uint64_t shown_;
  std::unordered_map<uint64_t, std::string> names_;
  std::unordered_map<uint64_t, const char*> alive_;  // what each is, if it is no texture
};

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_IMAGE_PLACE_H_
