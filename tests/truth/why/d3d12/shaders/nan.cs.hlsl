// SPDX-License-Identifier: Apache-2.0
//
// A number that is none is never at the limit.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    float x = start;
    while (true) // culprit
    {
        if (x >= limit) break;
        x += step;
        if (Spent()) break;
    }
    Finish(thread.x, asuint(x));
}
