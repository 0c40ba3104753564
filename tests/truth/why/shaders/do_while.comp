#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A loop with its condition at the end, of a number that never gets smaller.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint left = 8u;
    do
    {
        left -= constants.count;
        if (spent()) break;
    } while (left > 0u); // culprit
    finish(gl_GlobalInvocationID.x, left);
}
