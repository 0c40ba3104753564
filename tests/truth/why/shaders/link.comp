#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Stores through an address whose upper half comes from memory, where 0 adds nothing.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint upper = Target(constants.other).dwords[0];
    Target(uvec2(constants.address.x, constants.address.y + upper)).dwords[gl_GlobalInvocationID.x & 63u] = constants.value;
}
