#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// One triangle over the whole picture, from a vertex buffer.
#include "misdeed.glsl"

layout(location = 0) in vec2 position;
layout(location = 0) flat out uint instance;

void main()
{
    // Beside those of the pixels.
    if (gl_VertexIndex == 0) Words(work.notes).dwords[64] = 1u;
    memoryBarrierBuffer();
    uint result = misbehave(uint(gl_VertexIndex), 1u);
    instance = uint(gl_InstanceIndex);
    gl_Position = vec4(position, result == 12345u ? 0.5 : 0.0, 1.0);
}
