#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// One of very many groups. It has no loop: 64 reads, each of which needs the one before.
#include "why.glsl"

layout(local_size_x = 64) in;

#define READ at = words[at & 63u] + 1u;
#define READS_4 READ READ READ READ
#define READS_16 READS_4 READS_4 READS_4 READS_4

void main()
{
    uint at = gl_LocalInvocationIndex;
    READS_16 READS_16 READS_16 READS_16
    // Never 12345; the compiler cannot know.
    if (at == 12345u) finish(0u, at);
}
