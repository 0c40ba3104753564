// SPDX-License-Identifier: Apache-2.0
//
// Writes the interpolated colour of triangle.vs.
// Profile ps_5_0, entry point main. Bindings: none.

float4 main(float4 position : SV_Position, float4 colour : COLOR0) : SV_Target0
{
    return colour;
}
