// SPDX-License-Identifier: Apache-2.0
//
// Objects by what they were made as, where they have no name: "Texture2D 1920x1080 R16G16B16A16_FLOAT".
#ifndef CAIRN_READER_REPORT_OBJECT_WORDS_H_
#define CAIRN_READER_REPORT_OBJECT_WORDS_H_

#include <string>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Appends "buffer 64 KiB vertex/index", "Texture2D 64x64, 6 layers R8G8B8A8_UNORM depth", "heap 64 MiB upload" or
// "descriptor heap, 1,024 CBV/SRV/UAV, shader-visible". Returns false and appends
// nothing if the file does not describe it.
bool AppendDescription(const Object& object, std::string& out);

// Appends "#7", or "#7, 2 targets R16G16B16A16_FLOAT, depth D32_FLOAT": the number by which a pipeline is known, and what
// it draws into. Returns false and appends nothing if the file does not describe it.
bool AppendPipelineDescription(const Snapshot& snapshot, uint32_t pipeline, std::string& out);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_OBJECT_WORDS_H_
