#version 450
// SPDX-License-Identifier: Apache-2.0
//
// The loop of busy.comp, once a pixel; the colour is its result. Goes with busy.vert.
// Bindings: push constants, 4 bytes.

layout(push_constant) uniform Busy
{
    uint trips; // of 64 rounds each
} busy;

layout(location = 0) out vec4 target;

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
    target = vec4(uvec4(x, x >> 8, x >> 16, x >> 24) & 255u) / 255.0;
}
