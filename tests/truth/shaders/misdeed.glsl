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

// C++: gpu.h
layout(push_constant) uniform Constants
{
    uvec2 notes;   // address of this work's words
    uvec2 address; // what the misdeed is done to
    uint misdeed;
    uint stage;    // 0: compute or pixel, 1: vertex
    uint lane;     // the one that does it; ALL_LANES
    uint trips;    // of the loop, 64 rounds each
    uint ticks;    // of the clock, after which the loop ends; 0: never
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
// However wrong the caller's number is, the loop ends. A trip that waits takes 0.5 to 1 us on a fast GPU.
#define MOST_TRIPS (1u << 26)
#define MOST_WAITS (1u << 22)
// Where the last loop of a work says how many ticks it took.
#define TICKS_WORD 66

// In 1024ths of what the device counts, whatever that is, so that minutes fit.
#ifdef CLOCK
uint now()
{
    uvec2 ticks = clockRealtime2x32EXT();
    return (ticks.y << 22) | (ticks.x >> 10);
}
#endif

// Each round is non-linear, so that no compiler folds the loop (samples/shaders/vulkan/hang.comp).
uint loop(uint seed)
{
    uint x = seed;
    uint most = MOST_TRIPS;
#ifdef CLOCK
    uint start = now();
#else
    if (work.misdeed == WAIT) most = MOST_WAITS;
#endif
    uint bound = min(work.trips, most);
    for (uint trip = 0u; trip < bound; ++trip)
    {
        ROUNDS_64
        if (work.misdeed == WAIT && Words(work.address).dwords[0] != 0u) break;
#ifdef CLOCK
        if (work.ticks != 0u && now() - start >= work.ticks) break;
#endif
    }
#ifdef CLOCK
    if (seed == 0u) Words(work.notes).dwords[TICKS_WORD] = now() - start;
#endif
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
