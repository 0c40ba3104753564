// SPDX-License-Identifier: Apache-2.0
//
// One case of several has a loop that does not move on.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    uint i;
    switch (value)
    {
    case 0:
        [loop] for (i = 0; i < 8; ++i) sum += i;
        break;
    case 1:
        for (i = 0; i < 8; i += count) // culprit
        {
            sum += i;
            if (Spent()) break;
        }
        break;
    default: sum = 1; break;
    }
    Finish(thread.x, sum);
}
