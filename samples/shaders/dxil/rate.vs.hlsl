// SPDX-License-Identifier: Apache-2.0
//
// One triangle over the whole picture, with a shading rate of its own.
// Draw three vertices without a vertex buffer.
// Profile vs_6_4, entry point main.
// Bindings: b0, 1 dword of root constants.

cbuffer Draw : register(b0)
{
    uint rate; // D3D12_SHADING_RATE
};

void main(uint vertex : SV_VertexID, out float4 position : SV_Position, out uint primitive_rate : SV_ShadingRate)
{
    position = float4(vertex == 2 ? 3.0 : -1.0, vertex == 1 ? 3.0 : -1.0, 0.5, 1.0);
    primitive_rate = rate;
}
