#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Work that takes as long as one likes, and ends: one thread runs `trips` trips of a loop and stores
// the result. Each trip is 64 rounds written out, because lavapipe leaves loops after 65,535 trips; a
// round is not linear, so that no compiler can fold the loop.
// Bindings: set 0 binding 0, storage buffer, 4 bytes; push constants, 4 bytes.

layout(local_size_x = 1) in;

layout(set = 0, binding = 0, std430) buffer Result
{
    uint value;
} result;

layout(push_constant) uniform Busy
{
    uint trips; // of 64 rounds each
} busy;

#define ROUND x = x * 1664525u + 1013904223u; x = x ^ (x >> 15);
#define ROUNDS_4 ROUND ROUND ROUND ROUND
#define ROUNDS_16 ROUNDS_4 ROUNDS_4 ROUNDS_4 ROUNDS_4
#define ROUNDS_64 ROUNDS_16 ROUNDS_16 ROUNDS_16 ROUNDS_16

void main()
{
    uint x = busy.trips;
    for (uint trip = 0u; trip < busy.trips; ++trip)
    {
        ROUNDS_64
    }
    result.value = x;
}
