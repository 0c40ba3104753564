// SPDX-License-Identifier: Apache-2.0
//
// A number that gets no smaller.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint left = 8;
    do
    {
        left -= count;
        if (Spent()) break;
    } while (left > 0); // culprit
    Finish(thread.x, left);
}
