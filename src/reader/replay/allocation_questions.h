// SPDX-License-Identifier: Apache-2.0
//
// Questions to a device: how much memory a resource needs.
#ifndef CAIRN_READER_REPLAY_ALLOCATION_QUESTIONS_H_
#define CAIRN_READER_REPLAY_ALLOCATION_QUESTIONS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "d3d12abi/d3d12_api.h"
#include "d3d12gen/methods.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// D3D12_RESOURCE_ALLOCATION_INFO::SizeInBytes of a resource that a device refuses.
inline constexpr uint64_t kRefusedBytes = std::numeric_limits<uint64_t>::max();

// GetResourceAllocationInfo, 1 and 2: the result is a D3D12_RESOURCE_ALLOCATION_INFO, and the arguments are a mask of
// nodes, how many resources there are, and their descriptions.
bool IsAllocationQuestion(Method method);

// Returns true for sampler feedback maps, which need more than the first fields of D3D12_RESOURCE_DESC1 say.
bool IsFeedback(const D3D12_RESOURCE_DESC& desc);

// Returns the same text for the same descriptions.
std::string KeyOf(const D3D12_RESOURCE_DESC& desc);

// Returns how many bytes there are from an offset of a heap on: heaps are as large as whole blocks of 64 KiB.
uint64_t HeapRoom(uint64_t heap_bytes, uint64_t offset_bytes);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_ALLOCATION_QUESTIONS_H_
