// SPDX-License-Identifier: Apache-2.0
//
// A healthy pixel shader.

float4 main(float4 position : SV_Position) : SV_Target0
{
    return float4(1, 1, 1, 1);
}
