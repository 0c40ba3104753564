#version 450
// A loop whose step comes from the program: with a step of 0 it does not end.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Results { float results[64]; };
layout(push_constant) uniform Parameters { float step; float limit; } parameters;

float march(float start) {
  float sum = 0.0;
  for (float i = start; i < parameters.limit; i += parameters.step) {
    sum += i;
  }
  return sum;
}

void main() {
  uint at = gl_GlobalInvocationID.x;
  results[at] = march(0.5 + float(at));
}
