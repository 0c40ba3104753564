#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A loop of a vertex shader that does not move on.
#include "why.glsl"

void main()
{
    uint sum = 0u;
    for (uint i = 0u; i < 8u; i += constants.count) // culprit
    {
        sum += i;
        if (spent()) break;
    }
    if (sum == 12345u) gl_Position = vec4(0.0);
    // A triangle over the whole picture, or, if constants.value says so, one of no area.
    vec2 corner = vec2(float((gl_VertexIndex % 3) & 1), float((gl_VertexIndex % 3) >> 1)) * 4.0 - 1.0;
    gl_Position = constants.value == 0u ? vec4(corner, 0.0, 1.0) : vec4(-2.0, -2.0, 0.0, 1.0);
}
