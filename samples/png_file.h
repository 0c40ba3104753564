// SPDX-License-Identifier: Apache-2.0
//
// Writes what a sample has drawn.
#ifndef CAIRN_SAMPLES_PNG_FILE_H_
#define CAIRN_SAMPLES_PNG_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

// Writes an image of 8-bit red, green, blue and alpha, top row first; rows start every `row_bytes`.
// Returns "" or what went wrong; nothing is left at `path` then.
std::string WritePng(const std::string& path, uint32_t width, uint32_t height, size_t row_bytes,
                     const std::byte* pixels);

#endif  // CAIRN_SAMPLES_PNG_FILE_H_
