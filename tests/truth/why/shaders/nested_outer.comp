#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// The outer loop of two does not move on.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint sum = 0u;
    for (uint row = 0u; row < 4u; row += constants.count) // culprit
    {
        for (uint column = 0u; column < 4u; ++column) sum += row * column;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, sum);
}
