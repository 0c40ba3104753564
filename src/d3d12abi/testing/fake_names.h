// SPDX-License-Identifier: Apache-2.0
//
// The last names and arguments that objects of the fake device were given.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_NAMES_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_NAMES_H_

#include <cstdint>
#include <map>
#include <string>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The name that a fence was given last. Its characters are those of implementations with this calling
// convention: of two bytes with the platform's own (vkd3d-proton), wchar_t with that of Windows (libvkd3d-utils).
std::string LastFakeName();

// Return the last arguments that a list was given, by any thread: the address of a root constant
// buffer; true if the view of indices was null; true if the array of vertex buffers was null.
uint64_t LastFakeRootView();
bool LastFakeIndexViewWasNull();
bool LastFakeVertexViewsWereNull();
// Returns the first 8 bytes of the arguments that an ExecuteIndirect had last, when its list was executed.
uint64_t LastFakeIndirectWord();
// Returns the MaxCommandCount that it had.
uint32_t LastFakeIndirectCount();
// Returns the structure that was built or copied last, when its list was executed.
struct FakeStructure {
  uint64_t address = 0;
  uint64_t scratch = 0;  // of a build
  uint32_t word = 0;     // that it holds
};
FakeStructure LastFakeStructure();
// Returns the place of the last view of a structure, and how many there have been.
uint64_t LastFakeStructureView();
// Returns the structures of which views were made since the last call, by the descriptors that hold them.
std::map<uint64_t, uint64_t> TakeFakeStructureViews();
// Returns the structure about which a list was asked last.
uint64_t LastFakeStructureQuestion();
uint64_t FakeStructureViews();
// Returns the flags of the last heap, and how many there have been.
uint32_t LastFakeHeapFlags();
int FakeHeapsMade();
// Returns how many barriers for all unordered access lists have executed so far.
uint64_t FakeGlobalBarriers();
// Returns how often queues have executed lists so far.
uint64_t FakeExecutions();
// The same, while another queue had not signalled since it updated tile mappings.
uint64_t FakeOvertakenMappings();

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_NAMES_H_
