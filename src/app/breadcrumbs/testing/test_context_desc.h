// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_BREADCRUMBS_TESTING_TEST_CONTEXT_DESC_H_
#define CAIRN_APP_BREADCRUMBS_TESTING_TEST_CONTEXT_DESC_H_

#include "cairn/breadcrumbs.h"

namespace cairn {

// For tests: a context of two frames that leaves the process's signals alone.
inline CairnContextDesc TestContextDesc(CairnMode mode = CAIRN_MODE_FULL, uint32_t lists = 64,
                                        uint32_t raw_markers = 8) {
  CairnContextDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.flags = CAIRN_CONTEXT_NO_SIGNAL_HANDLER;
  desc.mode = mode;
  desc.frame_history_length = 2;
  desc.max_command_lists = lists;
  desc.raw_marker_count = raw_markers;
  return desc;
}

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_TESTING_TEST_CONTEXT_DESC_H_
