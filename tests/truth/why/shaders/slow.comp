#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// One of many groups that take long. It has no loop.
#include "why.glsl"
#include "reads.glsl"

layout(local_size_x = 1024) in;

void main()
{
    uint at = gl_LocalInvocationIndex;
    READS_4096
    // Never 12345; the compiler cannot know.
    if (at == 12345u) finish(0u, at);
}
