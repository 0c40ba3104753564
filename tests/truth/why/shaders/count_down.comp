#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// An unsigned number is never below zero.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint sum = 0u;
    for (uint i = constants.count; i >= 0u; --i) // culprit
    {
        sum += words[RESULTS + i % RESULT_COUNT];
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, sum);
}
