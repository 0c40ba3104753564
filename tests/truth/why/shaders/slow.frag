#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A pixel that takes long. It has no loop: the reads of slow.comp.
#include "why.glsl"
#include "reads.glsl"

layout(location = 0) out vec4 colour;

void main()
{
    uint at = uint(gl_FragCoord.x);
    READS_4096
    // Never 12345; the compiler cannot know.
    if (at == 12345u) finish(0u, at);
    colour = vec4(1.0);
}
