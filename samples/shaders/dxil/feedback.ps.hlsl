// SPDX-License-Identifier: Apache-2.0
//
// Writes down that it would sample a level of a texture where it draws, into both kinds of maps. The level is the blue.
// Profile ps_6_5, entry point main.
// Bindings: t0, the texture, as large as the picture; s0; u0 and u1, its maps; b0, 1 dword of root constants.

Texture2D<float4> sampled : register(t0);
SamplerState point_sampler : register(s0);
FeedbackTexture2D<SAMPLER_FEEDBACK_MIN_MIP> lowest : register(u0);
FeedbackTexture2D<SAMPLER_FEEDBACK_MIP_REGION_USED> used : register(u1);

cbuffer Draw : register(b0)
{
    uint level;
};

float4 main(float4 position : SV_Position) : SV_Target0
{
    float2 at = position.xy / 128.0;
    lowest.WriteSamplerFeedbackLevel(sampled, point_sampler, at, level);
    used.WriteSamplerFeedbackLevel(sampled, point_sampler, at, level);
    return float4(0.0, 1.0, level / 255.0, 1.0);
}
