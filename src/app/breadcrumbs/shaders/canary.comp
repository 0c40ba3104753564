#version 450
// SPDX-License-Identifier: Apache-2.0
//
// What runs behind each piece of work in mode exact: it cannot fail, so where it does not come to its end,
// the work before it did harm.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Result {
  uint runs;
} result;

void main() {
  atomicAdd(result.runs, 1u);
}
