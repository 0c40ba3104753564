// SPDX-License-Identifier: Apache-2.0
//
// Takes a while, as healthy_loops does, and then writes what others need: a bound, or the arguments of a dispatch.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint sum = 0;
    [loop] for (uint i = 0; i < count; ++i)
    {
        [loop] for (uint j = 0; j < 256; ++j) sum += Word((sum + j) & 63);
    }
    if (thread.x == 0)
    {
        view[0] = value + sum;
        view[1] = 1 + sum;
        view[2] = 1 + sum;
    }
}
