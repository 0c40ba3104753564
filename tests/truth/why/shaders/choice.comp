#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Stores through one address of two: a bit of memory says which.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uvec2 address = (Target(constants.other).dwords[0] & 2u) != 0u ? constants.address : uvec2(constants.count, constants.value);
    Target(address).dwords[gl_GlobalInvocationID.x & 63u] = 1u;
}
