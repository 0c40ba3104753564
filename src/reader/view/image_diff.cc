// SPDX-License-Identifier: Apache-2.0
#include "reader/view/image_diff.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "reader/replay/image_file.h"
#include "reader/view/trace_diff.h"

namespace cairn::cli {
namespace {

Status Stopped() {
  return {StatusCode::kInvalidArgument, "stopped"};
}

// ---- Playbacks -----------------------------------------------------------------------------------

struct PlayedFrame {
  ImageHash hash;
  std::optional<FrameImage> image;
};
using PlayedFrames = std::map<uint64_t, PlayedFrame>;

class PlaybackDiff {
 public:
  PlaybackDiff(TraceReader (&traces)[2], const std::string (&names)[2],
               const PlaybackDiffOptions& options)
      : traces_(traces), names_(names), options_(options) {}

  Result<std::vector<ImagePair>> Run() {
    const Result<FrameRange> both = ComparableFrames(traces_[0], traces_[1], options_.frames);
    if (!both.ok()) return both.status();
    frames_ = *both;
    CAIRN_RETURN_IF_ERROR(PlayForHashes());
    CAIRN_RETURN_IF_ERROR(PlayForPixels(Different()));
    return Pairs();
  }

 private:
  Status PlayForHashes() {
    for (const size_t side : {0, 1}) {
      Result<PlayedFrames> played = Play(side, {});
      if (!played.ok()) return played.status();
      played_[side] = std::move(played).value();
    }
    return {};
  }

  Status PlayForPixels(const std::set<uint64_t>& different) {
    if (different.empty()) return {};
    for (const size_t side : {0, 1}) {
      Result<PlayedFrames> played = Play(side, different);
      if (!played.ok()) return played.status();
      for (auto& [frame, closer] : *played) {
        const auto known = played_[side].find(frame);
        if (known != played_[side].end()) known->second.image = std::move(closer.image);
      }
    }
    return {};
  }

  // The pixels of frames in `keep` are kept, of the others the hashes.
  Result<PlayedFrames> Play(size_t side, const std::set<uint64_t>& keep) {
    PlayedFrames frames;
    uint64_t count = 0;
    bool stopped = false;
    PlayerOptions player_options;
    player_options.images = true;
    player_options.first_frame = frames_.first;
    player_options.frame_end = frames_.end;
    player_options.library = options_.library;
    player_options.adapter = options_.adapter;
    player_options.on_image = [&](FrameImage image) {
      PlayedFrame& frame = frames[image.frame];
      frame.hash = {image.hash_low, image.hash_high};
      if (keep.contains(image.frame)) frame.image = std::move(image);
    };
    player_options.on_frame = [&](uint64_t) { ++count; };
    player_options.interrupted = [&] {
      return stopped = stopped || !options_.progress(count, traces_[side].frame_count());
    };
    if (options_.on_begin) options_.on_begin(side, &player_options);
    const Result<std::unique_ptr<Player>> player =
        Player::Create(&traces_[side], std::move(player_options));
    if (!player.ok()) return player.status();
    const Status status = (*player)->Run();
    if (!status.ok()) return status.WithContext(names_[side]);
    if (stopped) return Stopped();
    if (keep.empty() && options_.on_end) options_.on_end(side, (*player)->result());
    return frames;
  }

  std::set<uint64_t> Different() const {
    constexpr size_t kMostPixels = 32;
    std::set<uint64_t> different;
    for (const auto& [frame, played] : played_[0]) {
      const auto other = played_[1].find(frame);
      if (other == played_[1].end() || other->second.hash == played.hash) continue;
      if (different.size() < kMostPixels) different.insert(frame);
    }
    return different;
  }

  std::vector<ImagePair> Pairs() const {
    std::set<uint64_t> all;
    for (const PlayedFrames& side : played_) {
      for (const auto& [frame, played] : side) all.insert(frame);
    }
    std::vector<ImagePair> pairs;
    for (const uint64_t frame : all) {
      ImagePair pair;
      pair.what = fmt::format("frame {}", frame);
      pair.file = fmt::format("frame-{:06}.png", frame);
      for (const size_t side : {0, 1}) pair.present[side] = played_[side].contains(frame);
      if (pair.present[0] && pair.present[1]) {
        pair.same = played_[0].at(frame).hash == played_[1].at(frame).hash;
        if (!pair.same) ComparePixels(frame, &pair);
      }
      pairs.push_back(std::move(pair));
    }
    return pairs;
  }

  void ComparePixels(uint64_t frame, ImagePair* pair) const {
    const auto& first = played_[0].at(frame).image;
    const auto& second = played_[1].at(frame).image;
    if (!first || !second) {
      pair->problem = "its pixels were not looked at";
      return;
    }
    const Result<RgbaImage> pictures[2] = {Picture(*first), Picture(*second)};
    for (const Result<RgbaImage>& picture : pictures) {
      if (!picture.ok()) pair->problem = picture.status().message();
    }
    if (!pair->problem.empty()) return;
    pair->difference = CompareImages(*pictures[0], *pictures[1]);
    if (pair->difference.same_size && pair->difference.different_pixels == 0) {
      pair->problem = "too little to be seen in 8 bits, or in another format";
    }
  }

  static Result<RgbaImage> Picture(const FrameImage& image) {
    const uint64_t row_bytes = image.height == 0 ? 0 : image.pixels.size() / image.height;
    return ToRgba(static_cast<DXGI_FORMAT>(image.format), image.width, image.height, row_bytes,
                  image.pixels);
  }

  TraceReader (&traces_)[2];
  const std::string (&names_)[2];
  const PlaybackDiffOptions& options_;
  FrameRange frames_;
  PlayedFrames played_[2];
};

// ---- Folders -------------------------------------------------------------------------------------

Status CompareFiles(const std::string (&folders)[2], ImagePair* pair) {
  const Result<RgbaImage> first = ReadPng(folders[0] + "/" + pair->file);
  if (!first.ok()) return first.status();
  const Result<RgbaImage> second = ReadPng(folders[1] + "/" + pair->file);
  if (!second.ok()) return second.status();
  pair->difference = CompareImages(*first, *second);
  pair->same = pair->difference.same_size && pair->difference.different_pixels == 0;
  return {};
}

}  // namespace

Result<std::vector<ImagePair>> ComparePlaybacks(TraceReader (&traces)[2],
                                                const std::string (&names)[2],
                                                const PlaybackDiffOptions& options) {
  return PlaybackDiff(traces, names, options).Run();
}

Result<std::vector<ImagePair>> CompareFolders(const std::string (&folders)[2],
                                              const DiffProgress& progress) {
  std::set<std::string> files[2];
  for (const size_t side : {0, 1}) {
    Result<std::set<std::string>> found = PngFilesIn(folders[side]);
    if (!found.ok()) return found.status();
    files[side] = std::move(found).value();
  }
  std::set<std::string> all = files[0];
  all.insert(files[1].begin(), files[1].end());
  if (all.empty()) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("neither {} nor {} holds a PNG file; cairn replay --images writes some",
                    folders[0], folders[1]));
  }
  std::vector<ImagePair> pairs;
  for (const std::string& file : all) {
    ImagePair pair;
    pair.what = pair.file = file;
    for (const size_t side : {0, 1}) pair.present[side] = files[side].contains(file);
    if (pair.present[0] && pair.present[1]) CAIRN_RETURN_IF_ERROR(CompareFiles(folders, &pair));
    pairs.push_back(std::move(pair));
    if (!progress(pairs.size(), all.size())) return Stopped();
  }
  return pairs;
}

}  // namespace cairn::cli
