#version 450
// Every way out of a loop and around its end: break, continue, return, nested and in a row, in a switch, at the bottom.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Results { uint results[64]; };
layout(push_constant) uniform Parameters { uint count; uint stop; } parameters;

uint early(uint start) {
  for (uint i = start; i < parameters.count; ++i) {
    if (i % 7u == 6u) return i * 100u;
    if (i % 3u == 1u) continue;
    if (i == parameters.stop) break;
    start += i;
  }
  return start;
}

uint nested(uint at) {
  uint sum = 0u;
  for (uint i = 0u; i < parameters.count; ++i) {
    for (uint j = i; j < i + at % 5u; ++j) {
      if (j == 3u) continue;
      if (j > 20u) break;
      sum += j * i + 1u;
    }
    sum ^= i;
    do {
      sum = sum * 1664525u + 1013904223u;
    } while ((sum & 3u) != 0u && sum > 1000u);
  }
  return sum;
}

uint machine(uint at) {
  uint state = at % 4u;
  uint seen = 0u;
  for (uint turn = 0u; turn < 100u; ++turn) {
    switch (state) {
      case 0u: state = 3u; seen += 1u; break;
      case 1u: seen += 10u;  // falls through
      case 2u: state = 0u; seen += 100u; break;
      case 3u: if (turn > parameters.stop) return seen; state = (at + turn) % 3u; break;
      default: return 77u;
    }
  }
  return seen;
}

uint behind(uint at) {
  // A value that was computed inside, and is used behind: `found` does not stand before every way out.
  uint x = at;
  uint found;
  for (;;) {
    x += 7u;
    if ((x & 1u) == 0u) continue;
    found = x ^ 0x55u;
    if (found % 11u == parameters.stop % 11u) break;
  }
  return found + x;
}

shared uint together[64];

void main() {
  uint at = gl_GlobalInvocationID.x;
  uint result = early(at % 9u);
  result = result * 31u + nested(at);
  result = result * 31u + machine(at);
  result = result * 31u + behind(at);
  // Two loops in a row, and what all invocations do together between and behind.
  for (uint i = 0u; i < at % 4u; ++i) result += i;
  while (result > 3000000000u) result /= 2u;
  together[at] = result;
  barrier();
  for (uint i = 0u; i < 64u; i += 1u + at % 3u) result += together[i] >> 5;
  barrier();
  results[at] = result;
}
