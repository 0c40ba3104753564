// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of two does not move on.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    [loop] for (uint row = 0; row < 4; ++row)
    {
        for (uint column = 0; column < 4; column += count) // culprit
        {
            sum += row * column;
            if (Spent()) break;
        }
    }
    Finish(thread.x, sum);
}
