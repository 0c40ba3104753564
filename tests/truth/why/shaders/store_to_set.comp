#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Stores to the buffer of a descriptor.
#include "why.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 2, std430) volatile buffer ForSet
{
    uint for_set[];
};

void main()
{
    for_set[gl_GlobalInvocationID.x & 63u] = constants.value;
}
