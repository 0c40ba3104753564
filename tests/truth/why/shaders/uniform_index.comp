#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Loads what stands behind an array of a uniform buffer, and takes it for a part of an address.
#include "why.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 1, std140) uniform Table
{
    uvec4 entries[8];
} table;

void main()
{
    uint high = table.entries[constants.value + gl_WorkGroupID.x].x; // culprit
    Target(uvec2(constants.address.x, constants.address.y + high)).dwords[gl_GlobalInvocationID.x & 63u] = 0u;
}
