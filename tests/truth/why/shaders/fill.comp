#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Writes, and does nothing else.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    finish(gl_GlobalInvocationID.x, constants.value);
}
