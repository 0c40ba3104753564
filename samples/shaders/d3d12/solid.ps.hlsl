// SPDX-License-Identifier: Apache-2.0
//
// Fills with the colour of the root constants, so that every draw of a frame
// can be told from its neighbours by its colour.
// Profile ps_5_0, entry point main.
// Bindings: b0, 8 dwords of root constants (shared with solid.vs).

cbuffer Draw : register(b0)
{
    float4 offset_scale; // read by solid.vs
    float4 colour;       // red, green, blue, alpha
};

float4 main(float4 position : SV_Position) : SV_Target0
{
    return colour;
}
