#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A walk that comes back to where it was: 5, 14, 7, 20, 10, 5.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint value = constants.count;
    while (value != 1u) // culprit
    {
        value = (value & 1u) == 0u ? value / 2u : 3u * value - 1u;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, value);
}
