// SPDX-License-Identifier: Apache-2.0
//
// What all works share: the notes that they leave, and the one misdeed that the push constants ask for.
// Notes are words of memory that no fault takes away: 1 where an invocation began, 2 where it ended.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(buffer_reference, std430, buffer_reference_align = 4) volatile buffer Words
{
    uint dwords[];
};

layout(set = 0, binding = 0, std430) buffer Data
{
    uint dwords[];
} data;

// C++: misdeed.h
layout(push_constant) uniform Constants
{
    uvec2 notes;   // address of this work's words
    uvec2 address; // what the misdeed is done to
    uint misdeed;
    uint stage;    // 0: compute or pixel, 1: vertex
    uint lane;     // the one that does it; ALL_LANES
    uint trips;    // of the loop, 64 rounds each
} work;

#define NOTHING 0u
#define STORE 1u
#define LOAD 2u
#define STORE_TO_SET 3u
#define LOAD_FROM_SET 4u
#define LOOP 5u
#define WAIT 6u
#define ALL_LANES 0xffffffffu

#define ROUND x = x * 1664525u + 1013904223u; x = x ^ (x >> 15);
#define ROUNDS_4 ROUND ROUND ROUND ROUND
#define ROUNDS_16 ROUNDS_4 ROUNDS_4 ROUNDS_4 ROUNDS_4
#define ROUNDS_64 ROUNDS_16 ROUNDS_16 ROUNDS_16 ROUNDS_16
// However wrong the caller's number is, the loop ends.
#define MOST_TRIPS (1u << 26)

// Each round is non-linear, so that no compiler folds the loop (samples/shaders/vulkan/hang.comp).
uint loop(uint seed)
{
    uint x = seed;
    uint bound = min(work.trips, MOST_TRIPS);
    for (uint trip = 0u; trip < bound; ++trip)
    {
        ROUNDS_64
        if (work.misdeed == WAIT && Words(work.address).dwords[0] != 0u) break;
    }
    return x;
}

// Returns what nobody may know before it is done.
uint misbehave(uint lane, uint stage)
{
    if (work.misdeed == NOTHING || work.stage != stage) return 0u;
    if (work.lane != ALL_LANES && work.lane != lane) return 0u;
    if (work.misdeed == STORE) Words(work.address).dwords[lane] = lane;
    if (work.misdeed == LOAD) return Words(work.address).dwords[lane];
    if (work.misdeed == STORE_TO_SET) data.dwords[lane] = lane;
    if (work.misdeed == LOAD_FROM_SET) return data.dwords[lane];
    if (work.misdeed == LOOP || work.misdeed == WAIT) return loop(lane);
    return 0u;
}
