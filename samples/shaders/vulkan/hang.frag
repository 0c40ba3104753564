#version 450
// SPDX-License-Identifier: Apache-2.0
//
// The loop of hang.comp in a fragment shader, for a draw that takes too long.
// Every pixel runs `trips` trips on `seed`; the four bytes of the result are the
// pixel's red, green, blue and alpha (exact in an 8-bit UNORM target), lowest
// byte first. The cost is trips times covered pixels. Goes with triangle.vert.
// Bindings: push constants, 8 bytes from offset 0.
//
// A trip is 64 rounds written out, each a linear congruential step followed by
// a shift-xor. Rounds of the first alone compose into a single multiplication
// and addition; the second makes a round non-linear, so a driver's compiler
// cannot fold the loop. Written out, because a software driver may end a loop
// early to protect itself: Mesa's lavapipe leaves, without a word, after 65,535
// trips of all loops of an invocation together. Longer work there is more
// pixels; elsewhere more trips do.

layout(push_constant) uniform Hang
{
    uint trips; // of 64 rounds each
    uint seed;
} hang;

layout(location = 0) out vec4 target;

#define ROUND x = x * 1664525u + 1013904223u; x = x ^ (x >> 15);
#define ROUNDS_4 ROUND ROUND ROUND ROUND
#define ROUNDS_16 ROUNDS_4 ROUNDS_4 ROUNDS_4 ROUNDS_4
#define ROUNDS_64 ROUNDS_16 ROUNDS_16 ROUNDS_16 ROUNDS_16

// However wrong the caller's number is, the loop ends.
#define MOST_TRIPS (1u << 24)

void main()
{
    uint x = hang.seed;
    uint bound = min(hang.trips, MOST_TRIPS);
    for (uint trip = 0u; trip < bound; ++trip)
    {
        ROUNDS_64
    }
    target = vec4(uvec4(x, x >> 8, x >> 16, x >> 24) & 255u) / 255.0;
}
