// SPDX-License-Identifier: Apache-2.0
//
// Shader code of Direct3D, "DXBC": a container of DXBC or DXIL, which names itself by the hash in its header.
#ifndef CAIRN_APP_RECORDER_DXBC_CODE_H_
#define CAIRN_APP_RECORDER_DXBC_CODE_H_

#include <cstddef>
#include <cstdint>

namespace cairn {

class BlockWriter;

// Returns the first eight bytes of the hash, the first one highest, so that its 16 digits are those
// that tools show. 0 for bytes that are no container, and for an unsigned one. `code` may be null.
// With a block, the code is kept there by that hash (BlockWriter::AddShader), unless there is no
// memory. Any thread.
uint64_t KeepDxbc(BlockWriter* block, const void* code, size_t bytes);
// The hash alone.
uint64_t HashOfDxbc(const void* code, size_t bytes);

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_DXBC_CODE_H_
