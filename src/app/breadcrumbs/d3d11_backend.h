// SPDX-License-Identifier: Apache-2.0
//
// Raw markers of Direct3D 11 without help from below: what arrives is put into the block's slots by the CPU, from a thread, up to
// 500 us late. There are no progress words.
//
//   CreateD3D11Backend        what the API can order (d3d11_counter.h)
//   CreateD3D11CopyBackend    somebody else has slots of his own; the block has a copy of them
#ifndef CAIRN_APP_BREADCRUMBS_D3D11_BACKEND_H_
#define CAIRN_APP_BREADCRUMBS_D3D11_BACKEND_H_

#include <memory>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/d3d11_api.h"

namespace cairn {

// `findings`: of what was tried before.
std::unique_ptr<Backend> CreateD3D11Backend(const D3D11Objects& objects,
                                            std::vector<SourceFinding> findings);

// `slots`: as many as the context's raw_marker_count, valid as long as the backend. It writes none itself.
std::unique_ptr<Backend> CreateD3D11CopyBackend(const D3D11Objects& objects, WriteMethod method,
                                                const volatile uint64_t* slots,
                                                std::vector<SourceFinding> findings);

// Fills in the facts of the device's adapter.
void DescribeD3D11Device(const D3D11Objects& objects, BackendDescription* description);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D11_BACKEND_H_
