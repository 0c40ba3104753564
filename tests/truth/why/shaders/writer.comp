#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Takes a while, as healthy_loops does, and then writes what others need: a bound, and the upper half of an
// address.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint sum = 0u;
    for (uint i = 0u; i < constants.count; ++i)
    {
        for (uint j = 0u; j < 256u; ++j) sum += words[(sum + j) & 63u];
    }
    if (gl_GlobalInvocationID.x == 0u)
    {
        Target(constants.address).dwords[0] = constants.value + sum;
        Target(constants.address).dwords[1] = 1u + sum;
        Target(constants.address).dwords[2] = 1u + sum;
    }
}
