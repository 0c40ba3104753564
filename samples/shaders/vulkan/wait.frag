#version 450
// SPDX-License-Identifier: Apache-2.0
//
// A draw that runs until the CPU lets it go, and ends by itself at some time:
// stores 1 at dword 2 * work, then every fragment makes at most `trips` trips of
// a loop, until dword 2 * work + 1 is not 0.
// Bindings: set 0 binding 0, storage buffer; push constants, 8 bytes from
// offset 0.
//
// On the CPU the fragments run after one another, and a software driver may end
// a loop early (hang.comp): the draw is as long as it has fragments. On a GPU
// they run at the same time: it is as long as it has trips.

layout(set = 0, binding = 0, std430) coherent volatile buffer Works
{
    uint dwords[];
} works;

layout(push_constant) uniform Wait
{
    uint work;
    uint trips;
} wait;

layout(location = 0) out vec4 target;

// However wrong the caller's number is, the loop ends.
#define MOST_TRIPS (1u << 25)

void main()
{
    works.dwords[2u * wait.work] = 1u;
    uint bound = min(wait.trips, MOST_TRIPS);
    uint x = uint(gl_FragCoord.x);
    for (uint trip = 0u; trip < bound; ++trip)
    {
        if (works.dwords[2u * wait.work + 1u] != 0u)
        {
            break;
        }
        // Some time between two looks at the memory.
        for (uint round = 0u; round < 8u; ++round)
        {
            x = x * 1664525u + 1013904223u;
            x = x ^ (x >> 15);
        }
    }
    target = vec4(float(x & 255u) / 255.0);
}
