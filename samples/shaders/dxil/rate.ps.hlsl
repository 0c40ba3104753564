// SPDX-License-Identifier: Apache-2.0
//
// The centre of what is shaded at once, rounded down, and the rate at which that happens as the blue.
// Profile ps_6_4, entry point main.

float4 main(float4 position : SV_Position, uint rate : SV_ShadingRate) : SV_Target0
{
    return float4(floor(position.xy) / 255.0, rate / 255.0, 1.0);
}
