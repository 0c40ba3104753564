#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Stores through an address.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    Target(constants.address).dwords[gl_GlobalInvocationID.x & 63u] = constants.value;
}
