// SPDX-License-Identifier: Apache-2.0
//
// A state machine that never gets to its last state.
#include "why.hlsl"

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint state = 0;
    while (state != 4) // culprit
    {
        switch (state)
        {
        case 0: state = 1; break;
        case 1: state = 2; break;
        case 2: state = count == 0 ? 1 : 3; break;
        case 3: state = 4; break;
        default: state = 0; break;
        }
        if (Spent()) break;
    }
    Finish(thread.x, state);
}
