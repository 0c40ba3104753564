#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// The loop is in a function, which main() calls.
#include "why.glsl"

layout(local_size_x = 64) in;

float march(float start)
{
    float sum = 0.0;
    for (float x = start; x < constants.limit; x += constants.step) // culprit
    {
        sum += x;
        if (spent()) break;
    }
    return sum;
}

void main()
{
    finish(gl_GlobalInvocationID.x, floatBitsToUint(march(constants.start)));
}
