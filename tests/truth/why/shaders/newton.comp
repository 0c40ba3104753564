#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: Apache-2.0
//
// Comes near to a root, and never to where its square is the number itself.
#include "why.glsl"

layout(local_size_x = 64) in;

void main()
{
    float root = constants.start;
    while (root * root != constants.limit) // culprit
    {
        root = 0.5 * (root + constants.limit / root);
        if (spent()) break;
    }
    finish(gl_GlobalInvocationID.x, floatBitsToUint(root));
}
