#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Loads through an address.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    finish(gl_GlobalInvocationID.x, Target(constants.address).dwords[gl_GlobalInvocationID.x & 63u]);
}
