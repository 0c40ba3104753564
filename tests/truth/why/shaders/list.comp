#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A linked list with a cycle.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint length = 0u;
    for (uint node = words[LIST]; node != 0u; node = words[LIST + node]) // culprit
    {
        ++length;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, length);
}
