// SPDX-License-Identifier: Apache-2.0
//
// The loop of hang.cs in a pixel shader, for a draw that takes too long.
// Every pixel runs `trips` trips on `seed`; the four bytes of the result are the
// pixel's red, green, blue and alpha (exact in an 8-bit UNORM target), lowest
// byte first. The cost is trips times covered pixels. Goes with triangle.vs.
// Profile ps_5_0, entry point main.
// Bindings: b0, 2 dwords of root constants.
//
// A trip is 64 rounds written out, each a linear congruential step followed by
// a shift-xor. Rounds of the first alone compose into a single multiplication
// and addition; the second makes a round non-linear, so a driver's compiler
// cannot fold the loop. Written out, because a software driver may end a loop
// early to protect itself: Mesa's lavapipe leaves, without a word, after 65,535
// trips of all loops of an invocation together. Longer work there is more
// pixels; elsewhere more trips do.

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

float4 main(float4 position : SV_Position) : SV_Target0
{
    uint x = seed;
    uint bound = min(trips, MOST_TRIPS);
    for (uint trip = 0; trip < bound; ++trip)
    {
        ROUNDS_64
    }
    uint4 bytes = uint4(x, x >> 8, x >> 16, x >> 24) & 255u;
    return float4(bytes) / 255.0;
}
