#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// One case of several has a loop that does not move on.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint sum = 0u;
    switch (constants.value)
    {
    case 0u:
        for (uint i = 0u; i < 8u; ++i) sum += i;
        break;
    case 1u:
        for (uint i = 0u; i < 8u; i += constants.count) // culprit
        {
            sum += i;
            if (spent()) break;
        }
        break;
    default: sum = 1u; break;
    }
    finish(gl_GlobalInvocationID.x, sum);
}
