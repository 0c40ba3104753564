// SPDX-License-Identifier: Apache-2.0
//
// The parts that both pages have: their data, and the scheme of their colours.

// Returns the data that stands in the page, compressed.
export async function readData<Data>(): Promise<Data> {
  const packed = Uint8Array.from(atob(document.getElementById("data")!.textContent!), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Turns dark to light, and light to dark.
export function turnScheme(): void {
  const { dataset } = document.documentElement;
  const dark = (dataset["scheme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  dataset["scheme"] = dark ? "light" : "dark";
}
