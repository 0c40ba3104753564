// SPDX-License-Identifier: Apache-2.0
//
// A loop of a pixel shader that does not move on.
#include "why.hlsl"

float4 main(float4 position : SV_Position) : SV_Target0
{
    uint sum = 0;
    for (uint i = 0; i < 8; i += count) // culprit
    {
        sum += i;
        if (Spent()) break;
    }
    return float4(sum, 0, 0, 1);
}
