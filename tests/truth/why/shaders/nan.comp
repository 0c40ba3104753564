#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A number that is none is never at the limit.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    float x = constants.start;
    while (true) // culprit
    {
        if (x >= constants.limit) break;
        x += constants.step;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, floatBitsToUint(x));
}
