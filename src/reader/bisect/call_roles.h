// SPDX-License-Identifier: Apache-2.0
//
// The roles of calls of command lists and queues in a search for the one that fails: work that can
// be omitted, begins of recordings, submissions, and scopes.
#ifndef CAIRN_READER_BISECT_CALL_ROLES_H_
#define CAIRN_READER_BISECT_CALL_ROLES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "d3d12gen/methods.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"

namespace cairn {

// Returns true for work of the GPU that can be left out: draws, dispatches, copies, clears, bundles. Barriers
// and render passes stay: the rest would make no sense without them.
bool CanBeLeftOut(Method method);

// Returns true for work that runs shaders and may do more than dispatch: draws, meshes, rays, indirect work, work graphs.
bool MayDraw(Method method);

// Returns the objects that an ExecuteCommandLists call executes; `body` is that of its kCall record.
// Errors: kCorrupt.
Result<std::vector<uint64_t>> ExecutedLists(std::span<const std::byte> body, BlobSource* blobs);
// Returns the body of the same call for these lists.
std::vector<std::byte> ExecuteBody(const std::vector<uint64_t>& lists);

// Returns the text of a BeginEvent. "" if the record is damaged.
std::string EventText(Method method, std::span<const std::byte> body, BlobSource* blobs);
// Returns the list that a call executes as a bundle; 0 if the record is damaged.
uint64_t BundleOf(Method method, std::span<const std::byte> body, BlobSource* blobs);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_CALL_ROLES_H_
