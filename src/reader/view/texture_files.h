// SPDX-License-Identifier: Apache-2.0
//
// Textures that a player gives, as PNG files: a file of each slice. Lists the written files in
// lines and as JSON (docs/formats/images.schema.json).
#ifndef CAIRN_READER_VIEW_TEXTURE_FILES_H_
#define CAIRN_READER_VIEW_TEXTURE_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/status.h"
#include "reader/replay/player.h"
#include "reader/view/image_place.h"

namespace cairn::cli {

class TextureFiles {
 public:
  // Into `folder`, which is there. `objects` outlives this. `stretch`: the smallest value of an image becomes black,
  // the largest white. `prefix`: what the names of the files begin with.
  TextureFiles(std::string folder, const ImageObjects& objects, bool stretch,
               std::string prefix = "")
      : folder_(std::move(folder)),
        objects_(objects),
        stretch_(stretch),
        prefix_(std::move(prefix)) {}

  // Adds a texture. Does nothing once a file could not be written.
  void Add(TextureImage image);

  const Status& status() const { return status_; }  // kIo
  uint64_t written() const { return written_; }     // files
  bool empty() const { return entries_.empty(); }   // no image was given

  const std::string& lines() const { return lines_; }
  // `path` is that of the trace.
  std::string Json(const std::string& path, const ImagePlace& place) const;

 private:
  struct Entry {
    TextureImage image;  // without its pixels
    std::string hash;    // of them
    std::vector<std::string> files;
  };

  void Write(Entry* entry);
  void AddLine(const Entry& entry);
  std::string Title(const TextureImage& image) const;
  std::string FileName(const TextureImage& image, uint32_t z) const;
  void WriteEntry(const Entry& entry, JsonWriter* json) const;

  const std::string folder_;
  const ImageObjects& objects_;
  const bool stretch_;
  const std::string prefix_;
  Status status_;
  uint64_t written_ = 0;
  std::string lines_;
  std::vector<Entry> entries_;
};

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_TEXTURE_FILES_H_
