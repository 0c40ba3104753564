#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Loads what stands behind an array of a storage buffer, and takes it for a part of an address.
#include "why.glsl"

layout(local_size_x = 64) in;

// The words once more: what stands behind the array is words[LINK] of machine.h, 0xBAD.
layout(set = 0, binding = 2, std430) readonly buffer Parts
{
    uint parts[1128];
};

void main()
{
    uint high = parts[constants.value + gl_WorkGroupID.x]; // culprit
    Target(uvec2(constants.address.x, constants.address.y + high)).dwords[gl_GlobalInvocationID.x & 63u] = 0u;
}
