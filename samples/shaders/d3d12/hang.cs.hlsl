// SPDX-License-Identifier: Apache-2.0
//
// Work that is long enough to be taken for a hang, and ends: every thread runs
// `trips` trips of a loop and stores the result at the dword of its thread
// number. Thread t starts from seed + t.
// Profile cs_5_0, entry point main, 64 threads a group.
// Bindings: u0, raw buffer, 64 dwords a group; b0, 2 dwords of root constants.
//
// A trip is 64 rounds written out, each a linear congruential step followed by
// a shift-xor. Rounds of the first alone compose into a single multiplication
// and addition; the second makes a round non-linear, so a driver's compiler
// cannot fold the loop. Written out, because a software driver may end a loop
// early to protect itself: Mesa's lavapipe leaves, without a word, after 65,535
// trips of all loops of an invocation together. Longer work there is more
// groups; elsewhere more trips do.

RWByteAddressBuffer destination : register(u0);

cbuffer Hang : register(b0)
{
    uint trips; // of 64 rounds each
    uint seed;
};

#define ROUND x = x * 1664525u + 1013904223u; x = x ^ (x >> 15);
#define ROUNDS_4 ROUND ROUND ROUND ROUND
#define ROUNDS_16 ROUNDS_4 ROUNDS_4 ROUNDS_4 ROUNDS_4
#define ROUNDS_64 ROUNDS_16 ROUNDS_16 ROUNDS_16 ROUNDS_16

// However wrong the caller's number is, the loop ends.
#define MOST_TRIPS (1u << 24)

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint x = seed + thread.x;
    uint bound = min(trips, MOST_TRIPS);
    for (uint trip = 0; trip < bound; ++trip)
    {
        ROUNDS_64
    }
    destination.Store(thread.x * 4, x);
}
