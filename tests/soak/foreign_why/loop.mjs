// SPDX-License-Identifier: Apache-2.0
//
// A compute shader on Dawn. usage: node loop.mjs STEP GROUPS; a step of 0 never ends.
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);
const step = Number(process.argv[2]);
const count = 64 * Number(process.argv[3]);
const gpu = create([]);  // kept: Dawn dies if it is collected
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice();
device.lost.then((info) => { console.log('lost', info.reason); process.exit(3); });
const code = `
struct Params { step: f32, end: f32 };
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
fn march(start: f32) -> f32 {
  var sum = 0.0;
  var i = start;
  while (i < params.end) {
    sum += sin(i) * cos(sum);
    i += params.step;
  }
  return sum;
}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var total = 0.0;
  for (var k = 0u; k < 16u; k++) { total += f32(k); }
  out[id.x] = total + march(0.5);
}`;
const module = device.createShaderModule({ code });
const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'main' } });
const params = device.createBuffer({ size: 16, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
device.queue.writeBuffer(params, 0, new Float32Array([step, 3, 0, 0]));
const out = device.createBuffer({ size: count * 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
const read = device.createBuffer({ size: count * 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
const entries = [params, out].map((buffer, binding) => ({ binding, resource: { buffer } }));
const encoder = device.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
pass.dispatchWorkgroups(count / 64);
pass.end();
encoder.copyBufferToBuffer(out, 0, read, 0, count * 4);
device.queue.submit([encoder.finish()]);
await read.mapAsync(GPUMapMode.READ);
const numbers = [...new Set(new Float32Array(read.getMappedRange()))];
console.log('done', numbers.join(' '));
process.exit(0);
