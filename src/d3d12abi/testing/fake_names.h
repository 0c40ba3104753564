// SPDX-License-Identifier: Apache-2.0
//
// What objects of the fake device were given last: names, and null in place of something.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_NAMES_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_NAMES_H_

#include <cstdint>
#include <string>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The name that a fence was given last. Its characters are those of implementations with this calling
// convention: of two bytes with the platform's own (vkd3d-proton), wchar_t with that of Windows (libvkd3d-utils).
std::string LastFakeName();

// What a list was given last: the address of a root constant buffer; whether the view of indices, or the array of
// vertex buffers, was null. From whichever thread.
uint64_t LastFakeRootView();
bool LastFakeIndexViewWasNull();
bool LastFakeVertexViewsWereNull();

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_NAMES_H_
