#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A healthy pixel shader.
#include "why.glsl"

layout(location = 0) out vec4 colour;

void main()
{
    colour = vec4(1.0);
}
