#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A vertex shader that takes a while: 64 reads, each of which needs the one before, and no loop.
#include "why.glsl"

#define READ at = words[at & 63u] + 1u;
#define READS_4 READ READ READ READ
#define READS_16 READS_4 READS_4 READS_4 READS_4

void main()
{
    uint at = uint(gl_VertexIndex);
    READS_16 READS_16 READS_16 READS_16
    if (at == 12345u) gl_Position = vec4(0.0);
    // A triangle over the whole picture, or, if constants.value says so, one of no area.
    vec2 corner = vec2(float((gl_VertexIndex % 3) & 1), float((gl_VertexIndex % 3) >> 1)) * 4.0 - 1.0;
    gl_Position = constants.value == 0u ? vec4(corner, 0.0, 1.0) : vec4(-2.0, -2.0, 0.0, 1.0);
}
