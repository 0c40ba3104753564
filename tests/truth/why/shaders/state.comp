#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A state machine that never gets to its last state.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint state = 0u;
    while (state != 4u) // culprit
    {
        switch (state)
        {
        case 0u: state = 1u; break;
        case 1u: state = 2u; break;
        case 2u: state = constants.count == 0u ? 1u : 3u; break;
        case 3u: state = 4u; break;
        default: state = 0u; break;
        }
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, state);
}
