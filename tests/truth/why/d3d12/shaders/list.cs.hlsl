// SPDX-License-Identifier: Apache-2.0
//
// A linked list with a cycle.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint length = 0;
    for (uint node = Word(LIST); node != 0; node = Word(LIST + node)) // culprit
    {
        ++length;
        if (Spent()) break;
    }
    Finish(thread.x, length);
}
