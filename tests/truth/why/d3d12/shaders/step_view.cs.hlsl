// SPDX-License-Identifier: Apache-2.0
//
// The step of the loop comes from another buffer, by a view.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    for (uint i = 0; i < 8; i += view[0]) // culprit
    {
        sum += i;
        if (Spent()) break;
    }
    Finish(thread.x, sum);
}
