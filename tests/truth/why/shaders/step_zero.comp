#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A loop over floats whose step is zero.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    float sum = 0.0;
    for (float x = constants.start; x < constants.limit; x += constants.step) // culprit
    {
        sum += x;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, floatBitsToUint(sum));
}
