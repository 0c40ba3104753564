// SPDX-License-Identifier: Apache-2.0
//
// In the place of ps_main_flat of gears.hlsl. The step is 0, and no compiler knows: a depth is not beyond 4.
float fog(float distance, float step)
{
    float density = 0.0;
    for (float depth = 0.5; depth < 3.0; depth += step)
        density += 0.001 * sin(depth * 17.0 + distance) * cos(density);
    return density;
}

float4 main(float4 position : SV_POSITION, nointerpolation float4 colour : COLOR) : SV_TARGET
{
    return colour + fog(position.z, max(0.0, position.z - 4.0));
}
