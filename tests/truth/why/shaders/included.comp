#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// The loop is in a file that this one includes.
#include "why.glsl"

layout(local_size_x = 64) in;

#include "probe.glsl"

void main()
{
    finish(gl_GlobalInvocationID.x, probe(gl_GlobalInvocationID.x));
}
