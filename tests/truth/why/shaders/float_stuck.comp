#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A float so large that adding 1 does not change it.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    float sum = 0.0;
    for (float x = constants.start; x < constants.limit; x += 1.0) // culprit
    {
        sum += 1.0;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, floatBitsToUint(sum));
}
