// SPDX-License-Identifier: Apache-2.0
//
// Waits for a flag that nobody sets.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint waits = 0;
    while (Word(FLAG) == 0) // culprit
    {
        ++waits;
        if (Spent()) break;
    }
    Finish(thread.x, waits);
}
