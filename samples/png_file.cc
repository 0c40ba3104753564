// SPDX-License-Identifier: Apache-2.0
#include "png_file.h"

#include <png.h>

#include <cstdio>

std::string WritePng(const std::string& path, uint32_t width, uint32_t height, size_t row_bytes,
                     const std::byte* pixels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGBA;
  if (png_image_write_to_file(&image, path.c_str(), 0, pixels, static_cast<png_int_32>(row_bytes),
                              nullptr) != 0) {
    return "";
  }
  std::remove(path.c_str());
  return path + ": " + image.message;
}
