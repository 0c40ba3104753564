// SPDX-License-Identifier: Apache-2.0
//
// Comes near to a root, and never to where its square is the number itself.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    float root = start;
    while (root * root != limit) // culprit
    {
        root = 0.5 * (root + limit / root);
        if (Spent()) break;
    }
    Finish(thread.x, asuint(root));
}
