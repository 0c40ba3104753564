// SPDX-License-Identifier: Apache-2.0
//
// Images of two traces: which belong together, and where their pixels differ.

// By docs/formats/images.schema.json.
export interface Picture { object: number; name: string | null; mip: number; slice: number; width: number; height: number; shown: boolean; files?: string[]; }
export interface Pair { title: string; first: Picture; second: Picture; }

// Pixels that differ: how many, by how much at most, and where, in a picture: grey where both are the same, red where not.
export function differenceOf(first: ImageData, second: ImageData): { pixels: number; most: number; picture: Uint8ClampedArray } | undefined {
  if (first.width !== second.width || first.height !== second.height) return undefined;
  const picture = new Uint8ClampedArray(first.data.length);
  let pixels = 0, most = 0;
  for (let at = 0; at < picture.length; at += 4) {
    let apart = 0;
    for (let channel = 0; channel < 4; ++channel) apart = Math.max(apart, Math.abs(first.data[at + channel]! - second.data[at + channel]!));
    const grey = (first.data[at]! + first.data[at + 1]! + first.data[at + 2]!) / 6;
    picture.set(apart ? [Math.max(128, apart), 0, 0, 255] : [grey, grey, grey, 255], at);
    if (apart) ++pixels;
    most = Math.max(most, apart);
  }
  return { pixels, most, picture };
}
// Images of one name, or the n-th without one, of the same slice and mip.
export function pairsOf(first: Picture[], second: Picture[]): Pair[] {
  const keyed = (pictures: Picture[]) => {
    const unnamed: number[] = [];
    return new Map(pictures.filter(({ files }) => files?.length).map((each) => {
      if (!each.name && !unnamed.includes(each.object)) unnamed.push(each.object);
      const title = each.name ? `"${each.name}"` : `${each.shown ? "shown image" : "image without a name"} ${unnamed.indexOf(each.object) + 1}`;
      return [`${title}${each.slice ? `, slice ${each.slice}` : ""}${each.mip ? `, mip ${each.mip}` : ""}`, each];
    }));
  };
  const others = keyed(second);
  return [...keyed(first)].flatMap(([title, picture]) => (others.has(title) ? [{ title, first: picture, second: others.get(title)! }] : []));
}
