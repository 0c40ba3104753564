// SPDX-License-Identifier: Apache-2.0
//
// The outer loop of two does not move on.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    for (uint row = 0; row < 4; row += count) // culprit
    {
        [loop] for (uint column = 0; column < 4; ++column) sum += Word((row + column) & 63);
        if (Spent()) break;
    }
    Finish(thread.x, sum);
}
