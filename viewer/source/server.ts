// SPDX-License-Identifier: Apache-2.0
//
// What the page asks cairn view; a page that is a file asks nobody.
export const isServed = location.protocol === "http:";

// Throws what went wrong, in the server's words.
export async function ask(name: string, values: Record<string, string | number> = {}, order = false): Promise<string> {
  const words = new URLSearchParams(Object.entries(values).map(([key, value]) => [key, String(value)]));
  const answer = await fetch(`${name}?${words}`, { method: order ? "POST" : "GET" });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim() || answer.statusText);
  return text;
}
export const askJson = async <T>(name: string, values: Record<string, string | number> = {}, order = false) =>
  JSON.parse(await ask(name, values, order)) as T;

// The server ends with its last page.
export async function stayOpen(): Promise<void> {
  const answer = await fetch("open");
  const reader = answer.body!.getReader();
  while (!(await reader.read()).done);
}
