// SPDX-License-Identifier: Apache-2.0
//
// A ray for each pixel, straight into the picture. A miss is blue; a hit has the colour of its shader record times the
// brightness to which the record points, and the instance's number as its blue.
// Profile lib_6_3: RayGen, Miss, ClosestHit.
// Bindings: t0, the scene; u0, the picture; in records b0, 4 dwords of root constants, and t1, a float by its address.

RaytracingAccelerationStructure scene : register(t0);
RWTexture2D<float4> picture : register(u0);

cbuffer Record : register(b0)
{
    float4 record_colour;
};

ByteAddressBuffer brightness : register(t1);

struct Payload
{
    float4 colour;
};

[shader("raygeneration")]
void RayGen()
{
    RayDesc ray;
    ray.Origin = float3((DispatchRaysIndex().xy + 0.5) / DispatchRaysDimensions().xy * 2.0 - 1.0, -1.0);
    ray.Direction = float3(0.0, 0.0, 1.0);
    ray.TMin = 0.0;
    ray.TMax = 10.0;
    Payload payload;
    payload.colour = 0.0;
    TraceRay(scene, RAY_FLAG_NONE, 0xff, 0, 1, 0, ray, payload);
    picture[DispatchRaysIndex().xy] = payload.colour;
}

[shader("miss")]
void Miss(inout Payload payload)
{
    payload.colour = float4(0.0, 0.0, 1.0, 1.0);
}

[shader("closesthit")]
void ClosestHit(inout Payload payload, in BuiltInTriangleIntersectionAttributes attributes)
{
    const float2 colour = record_colour.rg * asfloat(brightness.Load(0));
    payload.colour = float4(colour, InstanceID() / 255.0, 1.0);
}
