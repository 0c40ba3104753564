// SPDX-License-Identifier: Apache-2.0
//
// The last of three loops does not move on.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    uint i;
    [loop] for (i = 0; i < 8; ++i) sum += Word(i);
    [loop] for (i = 0; i < 8; ++i) sum ^= Word(sum & 63);
    for (i = 0; i < 8; i += count) // culprit
    {
        sum += i;
        if (Spent()) break;
    }
    Finish(thread.x, sum);
}
