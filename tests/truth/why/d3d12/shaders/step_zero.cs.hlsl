// SPDX-License-Identifier: Apache-2.0
//
// A loop over floats whose step is zero.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    float sum = 0;
    for (float x = start; x < limit; x += step) // culprit
    {
        sum += x;
        if (Spent()) break;
    }
    Finish(thread.x, asuint(sum));
}
