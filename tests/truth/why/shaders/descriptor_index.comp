#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Stores to a buffer of an array of four, by an index that the program gives.
#include "why.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 3, std430) volatile buffer Pages
{
    uint dwords[];
} pages[4];

void main()
{
    uint at = gl_GlobalInvocationID.x & 63u;
    pages[0].dwords[at] = 1u;
    pages[constants.value].dwords[at] = 2u; // culprit
}
