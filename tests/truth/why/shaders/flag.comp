#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Waits for a flag that another invocation was to set, and that nobody sets.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint looks = 0u;
    while (words[FLAG] == 0u) // culprit
    {
        ++looks;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, looks);
}
