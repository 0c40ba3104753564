// SPDX-License-Identifier: Apache-2.0
//
// Three dispatches on Dawn, the second of which never ends. usage: node endless.mjs
import { bufferOf, computePipeline, device, groupOf, hash, leave, readBack } from './gpu.mjs';

const march = (label) => computePipeline(label, `
struct Params { step: f32, end: f32 };
@group(0) @binding(0) var<storage, read> params: Params;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var total = 0.0;
  var i = 0.5;
  while (i < params.end) {
    total += i;
    i += params.step;
  }
  out[id.x] = total;
}`);
const { STORAGE, COPY_SRC } = GPUBufferUsage;
const out = device.createBuffer({ label: 'Out', size: 256, usage: STORAGE | COPY_SRC });
const steps = [['Healthy', 0.5], ['Endless', 0], ['Behind', 0.25]];
const work = steps.map(([label, step]) => {
  const pipeline = march(label);
  const group = groupOf(pipeline, bufferOf(`${label} params`, new Float32Array([step, 3]), STORAGE), out);
  return { label, pipeline, group };
});
console.log('submit');
const bytes = await readBack('Frame', 256, (encoder) => {
  for (const { label, pipeline, group } of work) {
    const pass = encoder.beginComputePass({ label });
    pass.pushDebugGroup(label);
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(1);
    pass.popDebugGroup();
    pass.end();
  }
}, (encoder, target) => encoder.copyBufferToBuffer(out, 0, target, 0, 256));
console.log('ended', hash(bytes));
leave();
