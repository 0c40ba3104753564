// SPDX-License-Identifier: Apache-2.0
//
// Loops that end, one within the other. They take a while: count times 256 trips.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    [loop] for (uint i = 0; i < count; ++i)
    {
        [loop] for (uint j = 0; j < 256; ++j) sum += Word((sum + j) & 63);
    }
    Finish(thread.x, sum);
}
