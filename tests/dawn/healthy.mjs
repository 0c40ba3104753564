// SPDX-License-Identifier: Apache-2.0
//
// Three pieces of work that end, on Dawn, and what the program reads of each: a compute shader, a render bundle in a
// picture, and work whose arguments another shader writes. usage: node healthy.mjs FRAMES
import { bufferOf, computePipeline, device, groupOf, hash, leave, readBack } from './gpu.mjs';

const kSide = 64;  // of the picture: rows of 256 bytes
const { STORAGE, COPY_SRC, INDIRECT, UNIFORM, VERTEX } = GPUBufferUsage;

const sum = computePipeline('Sum', `
@group(0) @binding(0) var<uniform> frame: vec4u;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> part: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
  part[i] = id.x * (frame.x + 1);
  workgroupBarrier();
  var total = 0u;
  for (var k = 0u; k <= i; k++) { total += part[k]; }
  out[id.x] = total;
}`);

async function compute(frame) {
  const out = device.createBuffer({ label: 'Sums', size: 1024, usage: STORAGE | COPY_SRC });
  const group = groupOf(sum, bufferOf('Frame', new Uint32Array([frame, 0, 0, 0]), UNIFORM), out);
  const bytes = await readBack('Compute', 1024, (encoder) => {
    const pass = encoder.beginComputePass({ label: 'Sum up' });
    pass.setPipeline(sum);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(4);
    pass.end();
  }, (encoder, target) => encoder.copyBufferToBuffer(out, 0, target, 0, 1024));
  const numbers = new Uint32Array(bytes.buffer);
  console.log(`frame ${frame} compute ${numbers[63]} ${numbers[255]} ${hash(bytes)}`);
}

const picture = device.createShaderModule({ label: 'Picture', code: `
struct Out { @builtin(position) at: vec4f, @location(0) @interpolate(flat) colour: vec4f };
@vertex fn vertices(@location(0) at: vec2f, @location(1) instance: f32) -> Out {
  return Out(vec4f(at + vec2f(instance * 0.5, 0), 0, 1), vec4f(instance * 0.25, 0.5, 1, 1));
}
@fragment fn pixels(in: Out) -> @location(0) vec4f { return in.colour; }` });
// Not by @builtin(instance_index): for that Dawn writes root constants by indirect arguments on Direct3D 12, and then
// Wine's vkd3d 1.14 draws nothing.
const buffers = [
  { arrayStride: 8, attributes: [{ shaderLocation: 0, offset: 0, format: 'float32x2' }] },
  { arrayStride: 4, stepMode: 'instance', attributes: [{ shaderLocation: 1, offset: 0, format: 'float32' }] },
];
const draw = device.createRenderPipeline({
  label: 'Triangles', layout: 'auto', vertex: { module: picture, buffers },
  fragment: { module: picture, targets: [{ format: 'rgba8unorm' }] },
});
const corners = bufferOf('Corners', new Float32Array([-1, -1, 0, -1, -1, 1]), VERTEX);
const instances = bufferOf('Instances', new Float32Array([0, 1, 2]), VERTEX);
const target = device.createTexture({
  label: 'Target', size: [kSide, kSide], format: 'rgba8unorm',
  usage: GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC,
});
const bundles = device.createRenderBundleEncoder({ label: 'Bundle', colorFormats: ['rgba8unorm'] });
bundles.setPipeline(draw);
bundles.setVertexBuffer(0, corners);
bundles.setVertexBuffer(1, instances);
bundles.draw(3, 2);
const bundle = bundles.finish({ label: 'Bundle' });

// The bytes of the picture that `record` draws in a pass.
function drawn(label, record) {
  return readBack(label, kSide * kSide * 4, (encoder) => {
    const pass = encoder.beginRenderPass({
      label, colorAttachments: [{ view: target.createView(), loadOp: 'clear', storeOp: 'store', clearValue: [0, 0, 0.25, 1] }],
    });
    record(pass);
    pass.end();
  }, (encoder, buffer) => encoder.copyTextureToBuffer(
    { texture: target }, { buffer, bytesPerRow: kSide * 4 }, [kSide, kSide]));
}

const coloured = (bytes) => new Uint32Array(bytes.buffer).reduce((count, pixel) => count + ((pixel & 0xFF00) !== 0), 0);

async function bundled(frame) {
  const bytes = await drawn('Draw', (pass) => pass.executeBundles([bundle, bundle]));
  console.log(`frame ${frame} bundle ${coloured(bytes)} pixels ${hash(bytes)}`);
}

const write = computePipeline('Write arguments', `
@group(0) @binding(0) var<uniform> frame: vec4u;
@group(0) @binding(1) var<storage, read_write> dispatch: array<u32>;
@group(0) @binding(2) var<storage, read_write> draw: array<u32>;
@compute @workgroup_size(1) fn main() {
  dispatch[0] = 1 + frame.x % 4; dispatch[1] = 1; dispatch[2] = 1;
  draw[0] = 3; draw[1] = 1 + frame.x % 3; draw[2] = 0; draw[3] = 0;
}`);
const count = computePipeline('Count', `
@group(0) @binding(0) var<storage, read_write> counter: atomic<u32>;
@compute @workgroup_size(64) fn main() { atomicAdd(&counter, 1); }`);

async function indirect(frame) {
  const groups = device.createBuffer({ label: 'Groups', size: 12, usage: STORAGE | INDIRECT });
  const draws = device.createBuffer({ label: 'Draws', size: 16, usage: STORAGE | INDIRECT });
  const counter = bufferOf('Counter', new Uint32Array(1), STORAGE | COPY_SRC);
  const arguments_ = groupOf(write, bufferOf('Frame', new Uint32Array([frame, 0, 0, 0]), UNIFORM), groups, draws);
  const counted = await readBack('Indirect dispatch', 4, (encoder) => {
    const pass = encoder.beginComputePass({ label: 'Dispatch what was asked for' });
    pass.setPipeline(write);
    pass.setBindGroup(0, arguments_);
    pass.dispatchWorkgroups(1);
    pass.setPipeline(count);
    pass.setBindGroup(0, groupOf(count, counter));
    pass.dispatchWorkgroupsIndirect(groups, 0);
    pass.end();
  }, (encoder, buffer) => encoder.copyBufferToBuffer(counter, 0, buffer, 0, 4));
  const bytes = await drawn('Indirect draw', (pass) => {
    pass.setPipeline(draw);
    pass.setVertexBuffer(0, corners);
    pass.setVertexBuffer(1, instances);
    pass.drawIndirect(draws, 0);
  });
  console.log(`frame ${frame} indirect ${new Uint32Array(counted.buffer)[0]} invocations, ${coloured(bytes)} pixels ${hash(bytes)}`);
}

for (let frame = 0; frame < Number(process.argv[2]); ++frame) {
  await compute(frame);
  await bundled(frame);
  await indirect(frame);
}
leave();
