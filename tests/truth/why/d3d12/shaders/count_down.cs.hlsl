// SPDX-License-Identifier: Apache-2.0
//
// An unsigned number is never below zero.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    for (uint i = count; i >= 0; --i) // culprit
    {
        sum += i;
        if (Spent()) break;
    }
    Finish(thread.x, sum);
}
