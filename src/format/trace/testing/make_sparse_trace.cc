// SPDX-License-Identifier: Apache-2.0
//
// make-sparse-trace FILE GIBIBYTES: writes a trace of this size that takes some 4 MiB of a disk for each 16 GiB, for
// docs/performance.md, "Large files". A frame of 100 draws stands behind each hole of 64 MiB.
#include <cstdio>
#include <cstdlib>

#include "format/trace/testing/sparse_trace.h"

int main(int argc, char** argv) {
  const uint64_t gibibytes = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (gibibytes == 0) {
    std::fprintf(stderr, "usage: make-sparse-trace FILE GIBIBYTES\n");
    return 2;
  }
  const cairn::Status status =
      cairn::WriteSparseTrace(argv[1], gibibytes * 16, cairn::kMaxChunkBytes);
  if (!status.ok()) std::fprintf(stderr, "make-sparse-trace: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
