#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// The second of two loops does not move on.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint sum = 0u;
    for (uint i = 0u; i < 8u; ++i) sum += words[RESULTS + i];
    for (uint i = 0u; i < 8u; i += constants.count) // culprit
    {
        sum += i;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, sum);
}
