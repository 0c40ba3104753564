// SPDX-License-Identifier: Apache-2.0
//
// Prints images that differ, for `cairn diff`. JSON: docs/formats/diff.schema.json.
#ifndef CAIRN_READER_VIEW_IMAGE_DIFF_TEXT_H_
#define CAIRN_READER_VIEW_IMAGE_DIFF_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

#include "reader/view/image_diff.h"

namespace cairn::cli {

// A line for each pair that differs, `limit` at most, and one that counts them.
std::string ImagePairsText(const std::string (&names)[2], std::span<const ImagePair> pairs,
                           uint64_t limit);
std::string ImagePairsJson(const std::string (&names)[2], std::span<const ImagePair> pairs,
                           uint64_t limit);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_IMAGE_DIFF_TEXT_H_
