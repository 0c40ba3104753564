#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Waits for a lock that nobody gives back.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint tries = 0u;
    while (atomicCompSwap(words[LOCK], 0u, 1u) != 0u) // culprit
    {
        ++tries;
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, tries);
}
