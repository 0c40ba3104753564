// SPDX-License-Identifier: Apache-2.0
//
// The colour that cells.ms has chosen.
// Profile ps_6_0, entry point main.

float4 main(float4 position : SV_Position, nointerpolation float4 colour : COLOR0) : SV_Target0
{
    return colour;
}
