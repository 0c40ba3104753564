#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A binary search that does not get narrower: its middle rounds down.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint low = 0u;
    uint high = 8u;
    while (low < high) // culprit
    {
        uint middle = (low + high) / 2u;
        if (middle < constants.count) low = middle;
        else high = middle;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, low);
}
