#version 450
// Indices into one buffer: of an array without a length and of one that has one, by loads, stores and atomic operations.
layout(local_size_x = 64) in;
struct Pair { uint low; uint high; };
layout(std430, binding = 0) buffer Results { uint first[16]; Pair rest[]; } data;
layout(push_constant) uniform Parameters { uint kind; uint offset; } parameters;

void main() {
  uint at = gl_GlobalInvocationID.x;
  uint to = at + parameters.offset;
  if (at < 16u) data.first[at] = 100u + at;
  barrier();
  memoryBarrierBuffer();
  switch (parameters.kind) {
    case 0u:
      if (at < 24u) data.rest[to].high = at * 3u + 1u;
      break;
    case 1u:
      if (at < 24u) data.rest[at].low = data.first[int(at % 16u) - int(parameters.offset)];
      break;
    case 2u:
      if (at < 24u) data.rest[at].low = atomicAdd(data.rest[to].high, 5u) + 7u;
      break;
    case 3u:
      if (at < 24u) {
        Pair pair = data.rest[to];
        data.rest[at].low = pair.low + pair.high + 9u;
      }
      break;
  }
}
