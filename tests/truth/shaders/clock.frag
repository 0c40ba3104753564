#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_realtime_clock : require
// SPDX-License-Identifier: Apache-2.0
//
// work.frag for devices with a clock: the loop ends when its time is up.
#define CLOCK
#include "pixel.glsl"
