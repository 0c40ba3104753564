#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Work that is long enough to be taken for a hang, and ends: every thread runs
// `trips` trips of a loop and stores the result at the dword of its thread
// number. Thread t starts from seed + t.
// 64 threads a group.
// Bindings: set 0 binding 0, storage buffer, 64 dwords a group; push constants,
// 8 bytes from offset 0.
//
// A trip is 64 rounds written out, each a linear congruential step followed by
// a shift-xor. Rounds of the first alone compose into a single multiplication
// and addition; the second makes a round non-linear, so a driver's compiler
// cannot fold the loop. Written out, because a software driver may end a loop
// early to protect itself: Mesa's lavapipe leaves, without a word, after 65,535
// trips of all loops of an invocation together. Longer work there is more
// groups; elsewhere more trips do.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) buffer Destination
{
    uint dwords[];
} destination;

layout(push_constant) uniform Hang
{
    uint trips; // of 64 rounds each
    uint seed;
} hang;

#define ROUND x = x * 1664525u + 1013904223u; x = x ^ (x >> 15);
#define ROUNDS_4 ROUND ROUND ROUND ROUND
#define ROUNDS_16 ROUNDS_4 ROUNDS_4 ROUNDS_4 ROUNDS_4
#define ROUNDS_64 ROUNDS_16 ROUNDS_16 ROUNDS_16 ROUNDS_16

// However wrong the caller's number is, the loop ends.
#define MOST_TRIPS (1u << 24)

void main()
{
    uint x = hang.seed + gl_GlobalInvocationID.x;
    uint bound = min(hang.trips, MOST_TRIPS);
    for (uint trip = 0u; trip < bound; ++trip)
    {
        ROUNDS_64
    }
    destination.dwords[gl_GlobalInvocationID.x] = x;
}
