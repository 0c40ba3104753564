// SPDX-License-Identifier: Apache-2.0
#include "reader/view/texture_files.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/text.h"
#include "d3d12abi/image_formats.h"
#include "format/calls/object_text.h"
#include "reader/replay/image_file.h"

namespace cairn::cli {

void TextureFiles::Add(TextureImage image) {
  if (!status_.ok()) return;
  Entry entry = {.image = std::move(image)};
  if (entry.image.problem.empty()) Write(&entry);
  if (!status_.ok()) return;
  AddLine(entry);
  entry.image.pixels = {};
  entries_.push_back(std::move(entry));
}

std::string TextureFiles::Json(const std::string& path, const ImagePlace& place) const {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-images");
  json.NumberKey("version", 1);
  json.StringKey("file", path);
  json.OptionalKey("frame", place.frame);
  json.OptionalKey("call", place.call);
  json.StringKey("folder", folder_);
  json.BeginArray("images");
  for (const Entry& entry : entries_) WriteEntry(entry, &json);
  json.EndArray();
  json.EndObject();
  return text;
}

// A file of each slice, or the problem.
void TextureFiles::Write(Entry* entry) {
  TextureImage& image = entry->image;
  entry->hash = HashText(HashPixels(image.pixels));
  const uint64_t slice_bytes = image.row_bytes * image.row_count;
  for (uint32_t z = 0; z < image.depth; ++z) {
    const auto slice = std::span(image.pixels).subspan(z * slice_bytes, slice_bytes);
    const Result<RgbaImage> picture =
        ToRgba(static_cast<DXGI_FORMAT>(image.format), image.width, image.height, image.row_bytes,
               slice, stretch_ ? ValueRange::kStretched : ValueRange::kNatural);
    if (!picture.ok()) {
      image.problem = picture.status().message();
      return;
    }
    entry->files.push_back(FileName(image, z));
    status_ = WritePng(folder_ + "/" + entry->files.back(), *picture);
    if (!status_.ok()) return;
    ++written_;
  }
}

void TextureFiles::AddLine(const Entry& entry) {
  const TextureImage& image = entry.image;
  if (!image.problem.empty()) {
    lines_ += fmt::format("{}  no image: {}\n", Title(image), VisibleText(image.problem));
    return;
  }
  const size_t more = entry.files.size() - 1;
  lines_ += fmt::format("{}  {} x {}  {}  {}{}\n", Title(image), image.width, image.height,
                        FormatName(image.format), entry.files.front(),
                        more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string TextureFiles::Title(const TextureImage& image) const {
  std::string title =
      ObjectText(Chain::kID3D12Resource, image.object, objects_.NameOf(image.object));
  if (image.mip != 0) title += fmt::format(", mip {}", image.mip);
  if (image.slice != 0) title += fmt::format(", slice {}", image.slice);
  if (image.plane != 0) title += fmt::format(", plane {}", image.plane);
  if (image.object == objects_.shown()) title += ", shown";
  return title;
}

std::string TextureFiles::FileName(const TextureImage& image, uint32_t z) const {
  std::string name = fmt::format("{}resource-{}", prefix_, image.object);
  const std::string part = FileNamePart(objects_.NameOf(image.object));
  if (!part.empty()) name += "-" + part;
  if (image.plane != 0) name += fmt::format("-plane{}", image.plane);
  if (image.slice != 0) name += fmt::format("-slice{}", image.slice);
  if (image.mip != 0) name += fmt::format("-mip{}", image.mip);
  if (image.depth != 1) name += fmt::format("-z{}", z);
  return name + ".png";
}

void TextureFiles::WriteEntry(const Entry& entry, JsonWriter* json) const {
  const TextureImage& image = entry.image;
  const std::string name = objects_.NameOf(image.object);
  json->BeginObject();
  json->NumberKey("object", image.object);
  json->StringKey("object_text", ObjectText(Chain::kID3D12Resource, image.object, name));
  name.empty() ? json->NullKey("name") : json->StringKey("name", name);
  json->NumberKey("mip", image.mip);
  json->NumberKey("slice", image.slice);
  json->NumberKey("plane", image.plane);
  json->NumberKey("width", image.width);
  json->NumberKey("height", image.height);
  json->NumberKey("depth", image.depth);
  json->StringKey("format", FormatName(image.format));
  json->BoolKey("target", image.is_target);
  json->BoolKey("shown", image.object == objects_.shown());
  if (!entry.hash.empty()) json->StringKey("hash", entry.hash);
  if (image.problem.empty()) {
    json->StringsKey("files", entry.files);
  } else {
    json->StringKey("problem", image.problem);
  }
  json->EndObject();
}

}  // namespace cairn::cli
