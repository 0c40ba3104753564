#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Loops that end, one within the other. They take a while: constants.count times 256 trips.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint sum = 0u;
    for (uint i = 0u; i < constants.count; ++i)
    {
        for (uint j = 0u; j < 256u; ++j) sum += words[(sum + j) & 63u];
    }
    finish(gl_GlobalInvocationID.x, sum);
}
