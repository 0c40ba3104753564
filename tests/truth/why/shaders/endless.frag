#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// A loop of a pixel shader that does not move on.
#include "why.glsl"

layout(location = 0) out vec4 colour;

void main()
{
    uint sum = 0u;
    for (uint i = 0u; i < 8u; i += constants.count) // culprit
    {
        sum += i;
        if (spent()) break;
    }
    colour = vec4(float(sum));
}
