// SPDX-License-Identifier: Apache-2.0
//
// Images as PNG files, and names for them.
#ifndef CAIRN_READER_REPLAY_IMAGE_FILE_H_
#define CAIRN_READER_REPLAY_IMAGE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "d3d12abi/image_formats.h"

namespace cairn {

// Writes a PNG with 8-bit red, green, blue and alpha. Replaces the file at `path` once all is
// written, never by a partial file. Errors: kInvalidArgument: the number of pixels does not fit
// width and height; kIo, with the path.
Status WritePng(const std::string& path, const RgbaImage& image);
// kCorrupt, or kIo; any colour type is converted.
Result<RgbaImage> ReadPng(const std::string& path);

// The names of the PNG files in a folder; kIo.
Result<std::set<std::string>> PngFilesIn(const std::string& folder);

// Makes the folder, and those that it is in. Ok if it is there; kIo.
Status MakeFolder(const std::string& path);
// Removes a folder. Does nothing if it is not empty, or no folder.
void RemoveEmptyFolder(const std::string& path);

// An object's name as a part of a file's name: letters, digits and . - _ stay, the rest becomes '_'; at
// most 64 bytes. "" stays "".
std::string FileNamePart(std::string_view name);

// Returns "R8G8B8A8_UNORM"; "format 1234" for a format without a name.
std::string FormatName(uint32_t format);

// XXH3 128, the low half first: what FrameBody has.
struct ImageHash {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const ImageHash&) const = default;
};
ImageHash HashPixels(std::span<const std::byte> pixels);
std::string HashText(const ImageHash& hash);  // 32 digits, as xxhsum -H2 prints them

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_IMAGE_FILE_H_
