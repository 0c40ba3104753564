// SPDX-License-Identifier: Apache-2.0
//
// Globals of all wrappers of one calling convention.
#ifndef CAIRN_APP_D3D12_GLOBALS_H_
#define CAIRN_APP_D3D12_GLOBALS_H_

#include <string_view>

#include "app/d3d12/registry.h"
#include "app/d3d12/wrapper.h"

namespace cairn {

class BlockWriter;

inline namespace CAIRN_D3D12_NAMESPACE {

// Maps a real object, as the pointer that its chain's interfaces have, to its wrapper.
using WrapperRegistry = Registry<Wrapper>;
WrapperRegistry& Wrappers();

// The block that everything is noted in; made with the first device. Null before, and where it could
// not be made: one message said why.
BlockWriter* ProcessBlock();
// Makes the block, sets it for the call rings, and registers the names of all methods. Later calls
// do nothing.
void StartRecording();

// "ID3D12Fence": the chain's first interface.
std::string_view NameOf(Chain chain);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_GLOBALS_H_
