// SPDX-License-Identifier: Apache-2.0
//
// Writes the files of `cairn report --extract`: the code of shaders, user data, and data that only a vendor's
// tools read.
#ifndef CAIRN_READER_REPORT_EXTRACT_H_
#define CAIRN_READER_REPORT_EXTRACT_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "format/snapshot/snapshot.h"

namespace cairn {

struct ExtractedFile {
  // A harmless name, whatever the snapshot says: "00000000000000a1.spv", "00000000000000d1.dxbc",
  // "00000000000000e1.bin" for code of a kind that is not known, "user-data-00-level" for the first entry of user data,
  // "vendor-binary-0.bin" for the first fault. No two are the same.
  std::string name;
  std::span<const std::byte> bytes;  // of the snapshot, which must live as long
};

// Shaders and user data in the order of the snapshot, then binaries in the order of the faults.
std::vector<ExtractedFile> FilesToExtract(const Snapshot& snapshot);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_EXTRACT_H_
