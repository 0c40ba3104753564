// Goes into cube.frag, in front of main(). SPDX-License-Identifier: Apache-2.0
float fog(float step) {
   float density = 0.0;
   for (float depth = 0.5; depth < 3.0; depth += step) {
      density += 0.001 * sin(depth * 17.0) * cos(density);
   }
   return density;
}

float shade(float grain) {
   float sum = 0.0;
   for (int i = 0; i < 24; i++) {
      sum += 0.01 * sin(float(i) * grain);
   }
   return sum;
}

