// SPDX-License-Identifier: Apache-2.0
//
// The triangle of triangle.vs, moved and scaled by root constants, so that
// every draw of a frame can be told from its neighbours by where it is.
// Draw three vertices without a vertex buffer.
// Profile vs_5_0, entry point main.
// Bindings: b0, 8 dwords of root constants (shared with solid.ps).

cbuffer Draw : register(b0)
{
    float4 offset_scale; // xy: centre in clip space; zw: half width and half height
    float4 colour;       // red, green, blue, alpha (read by solid.ps)
};

float4 main(uint vertex : SV_VertexID) : SV_Position
{
    float top = vertex == 0 ? 1.0 : 0.0;
    float right = vertex == 1 ? 1.0 : 0.0;
    float left = vertex == 2 ? 1.0 : 0.0;

    float2 corner = float2(right - left, top - right - left);
    return float4(offset_scale.xy + corner * offset_scale.zw, 0.5, 1.0);
}
