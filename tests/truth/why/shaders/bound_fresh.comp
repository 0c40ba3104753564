#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// The bound of the loop comes from memory, by its address.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint sum = 0u;
    for (uint i = 0u; i < Target(constants.address).dwords[0]; ++i) // culprit
    {
        sum += i;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, sum);
}
