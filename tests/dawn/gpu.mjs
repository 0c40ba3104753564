// SPDX-License-Identifier: Apache-2.0
//
// A device of Dawn, and what the programs share. CAIRN_DAWN_BACKEND is one of Dawn's backends, CAIRN_DAWN_PACKAGES the
// folder that has node_modules. Exit code 77: that backend opens no device here.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = process.env.CAIRN_DAWN_PACKAGES;
if (process.platform === 'win32') process.dlopen({ exports: {} }, join(packages, 'wine_gaps.dll'));
const webgpu = join(packages, 'node_modules', 'webgpu', 'index.js');
const { create, globals } = await import(pathToFileURL(webgpu));
Object.assign(globalThis, globals);
// Kept: Dawn dies if it is collected. Else labels stay within Dawn.
const gpu = create([`backend=${process.env.CAIRN_DAWN_BACKEND}`, 'enable-dawn-features=use_user_defined_labels_in_backend']);

async function openDevice() {
  let device = null;
  try {
    const adapter = await gpu.requestAdapter();
    if (!adapter) throw new Error('no adapter');
    device = await adapter.requestDevice({ label: 'Guest' });
  } catch (error) {
    console.error(`Dawn opens no device: ${error.message}`);
    process.exit(77);
  }
  device.addEventListener('uncapturederror', ({ error }) => {
    console.log('error', error.message);
    process.exit(1);
  });
  device.lost.then(({ reason, message }) => {
    console.log('lost', reason);
    console.error(message);
    process.exit(3);
  });
  return device;
}
export const device = await openDevice();

export function computePipeline(label, code, entryPoint = 'main') {
  const module = device.createShaderModule({ label, code });
  return device.createComputePipeline({ label, layout: 'auto', compute: { module, entryPoint } });
}

export function bufferOf(label, numbers, usage) {
  const buffer = device.createBuffer({ label, size: numbers.byteLength, usage: usage | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(buffer, 0, numbers);
  return buffer;
}

// A group of buffers, bound from 0 on.
export function groupOf(pipeline, ...buffers) {
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  return device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
}

// Submits what `record` records, with a copy by `copy(encoder, target)`, and returns the bytes that arrive.
export async function readBack(label, size, record, copy) {
  const target = device.createBuffer({ label, size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder({ label });
  record(encoder);
  copy(encoder, target);
  device.queue.submit([encoder.finish({ label })]);
  await target.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(target.getMappedRange().slice(0));
  target.unmap();
  return bytes;
}

export function hash(bytes) {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

// Node would not end while Dawn lives.
export function leave() {
  console.log('done');
  process.exit(0);
}
