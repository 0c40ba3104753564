#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A loop that ends calls a function with one that does not, for the third of its elements.
#include "why.glsl"

layout(local_size_x = 64) in;

uint walk(uint cell)
{
    uint length = 0u;
    uint step = cell == 2u ? constants.count : 1u;
    for (uint at = 0u; at < 8u; at += step) // culprit
    {
        ++length;
        if (spent()) break;
    }
    return length;
}

void main()
{
    uint sum = 0u;
    for (uint cell = 0u; cell < 8u; ++cell) sum += walk(cell);
    finish(gl_GlobalInvocationID.x, sum);
}
