#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Stores to an array that has room for the index, in a buffer that is bound with far less.
#include "why.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 2, std430) volatile buffer Table
{
    uint table[0x30000000];
};

void main()
{
    table[constants.value + (gl_GlobalInvocationID.x & 63u)] = 2u; // culprit
}
