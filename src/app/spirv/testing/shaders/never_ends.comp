#version 450
// Loops that cannot end: nothing stands behind the second one that anybody could reach.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Results { uint results[64]; };
layout(push_constant) uniform Parameters { uint count; uint stop; } parameters;

uint spin(uint at) {
  uint x = at;
  while (true) {
    x += 2u;
    if (x == 1u) return x;  // never: x is even, but no compiler knows the program's `at`
  }
}

void main() {
  uint at = gl_GlobalInvocationID.x;
  results[at] = 1u;
  barrier();
  if (parameters.count == 7u) results[at] = spin(at * 2u);
  if (parameters.count == 8u) {
    while (true) atomicAdd(results[at], 1u);
  }
  results[at] += 5u;
}
