// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_ENTRY_WINDOWS_DXGI_SWAP_CHAIN_H_
#define CAIRN_APP_ENTRY_WINDOWS_DXGI_SWAP_CHAIN_H_

#include <dxgi1_4.h>

namespace cairn {

// A swap chain was made for `device`, as the program passed it. If that is a queue's wrapper, its images get wrappers
// from now on, and what it presents ends frames.
void NoteSwapChain(IUnknown* device, IUnknown* swap_chain);
// Registers a swap chain of a device of Direct3D 11, or of an unknown device: its presents end
// frames there.
void NoteD3D11SwapChain(IUnknown* swap_chain);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_WINDOWS_DXGI_SWAP_CHAIN_H_
