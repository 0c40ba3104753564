// SPDX-License-Identifier: Apache-2.0
//
// The bound of the loop is a root constant.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    for (uint i = 0; i < count; ++i) // culprit
    {
        sum += i;
        if (Spent()) break;
    }
    Finish(thread.x, sum);
}
