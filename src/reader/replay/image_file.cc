// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/image_file.h"

#include <fmt/format.h>
#include <png.h>
#include <xxhash.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "d3d12gen/enums.h"
#include "os/file.h"
#include "os/new_file.h"

namespace cairn {
namespace {

// More than any texture has.
constexpr uint64_t kMostPixels = uint64_t{1} << 28;

}  // namespace

Status WritePng(const std::string& path, const RgbaImage& image) {
  const uint64_t pixels = uint64_t{image.width} * image.height;
  if (pixels == 0 || pixels > kMostPixels || image.pixels.size() != pixels * 4) {
    return {StatusCode::kInvalidArgument,
            fmt::format("{}: {} bytes are no image of {} x {} pixels", path, image.pixels.size(),
                        image.width, image.height)};
  }
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width;
  png.height = image.height;
  png.format = PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<std::byte> bytes(size);
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) ==
      0) {
    return {StatusCode::kInternal, path + ": " + png.message};
  }
  bytes.resize(size);
  const std::error_code error = ReplaceFile(path, bytes);
  return error ? StatusFromError(error, path) : Status();
}

Result<RgbaImage> ReadPng(const std::string& path) {
  std::FILE* const file = OpenStream(path);
  if (file == nullptr) return StatusFromErrno(errno, path);
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  RgbaImage image;
  bool ok = png_image_begin_read_from_stdio(&png, file) != 0;
  if (ok && uint64_t{png.width} * png.height <= kMostPixels) {
    png.format = PNG_FORMAT_RGBA;
    image.width = png.width;
    image.height = png.height;
    image.pixels.resize(PNG_IMAGE_SIZE(png));
    ok = png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) != 0;
  } else {
    ok = false;
  }
  const std::string message = png.message;
  png_image_free(&png);
  std::fclose(file);
  if (!ok) {
    return Status(StatusCode::kCorrupt,
                  path + ": " + (message.empty() ? "the image is too large" : message));
  }
  return image;
}

Result<std::set<std::string>> PngFilesIn(const std::string& folder) {
  std::set<std::string> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(FilePath(folder), error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    if (entry->path().extension() == ".png") files.insert(TextOfPath(entry->path().filename()));
    entry.increment(error);
  }
  if (error) return Status(StatusCode::kIo, folder + " cannot be read: " + error.message());
  return files;
}

Status MakeFolder(const std::string& path) {
  const std::error_code error = MakeFolders(path);
  if (!error) return {};
  return {StatusCode::kIo, path + ": " + error.message()};
}

void RemoveEmptyFolder(const std::string& path) {
  std::error_code error;
  if (FactsOfName(path).type == std::filesystem::file_type::directory) {
    std::filesystem::remove(FilePath(path), error);
  }
}

std::string FileNamePart(std::string_view name) {
  constexpr size_t kMost = 64;
  std::string part(name.substr(0, kMost));
  for (char& c : part) {
    const bool stays = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                       (c == '.' && &c != part.data());
    if (!stays) c = '_';
  }
  return part;
}

std::string FormatName(uint32_t format) {
  constexpr std::string_view kPrefix = "DXGI_FORMAT_";
  const EnumInfo* const formats = FindEnum("DXGI_FORMAT");
  const char* const name = formats == nullptr ? nullptr : EnumeratorName(*formats, format);
  if (name == nullptr) return fmt::format("format {}", format);
  const std::string_view text(name);
  return std::string(text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text);
}

ImageHash HashPixels(std::span<const std::byte> pixels) {
  const XXH128_hash_t hash = XXH3_128bits(pixels.data(), pixels.size());
  return {hash.low64, hash.high64};
}

std::string HashText(const ImageHash& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

}  // namespace cairn
