// SPDX-License-Identifier: Apache-2.0
//
// What is chosen, for all views at once. It stands in the address behind "#", so that a link leads there:
// #view=tree&scope=4, #call=18233.
import type { ReactiveController, ReactiveControllerHost } from "lit";

export const views = ["verdict", "why", "timeline", "tree", "calls", "state", "memory", "compare", "bisect", "facts"] as const;
export type View = (typeof views)[number];
// Indices into the tables of the report; a call is its number in the trace, an address a GPU address, a text what Calls
// are searched for.
export const kinds = ["scope", "execution", "object", "queue", "submission", "call", "address", "text"] as const;
export type Kind = (typeof kinds)[number];
export type Place = { view?: View } & { [kind in Kind]?: string };

class Selection extends EventTarget {
  place: Place = {};

  constructor() {
    super();
    window.addEventListener("hashchange", () => this.read());
    this.read();
  }
  // Chooses something; the view stays if none is named. Nothing named: only the view changes.
  choose(place: Place): void {
    const { view, ...what } = place;
    const next = Object.keys(what).length ? what : this.what();
    const words = new URLSearchParams({ view: view ?? this.view ?? "verdict", ...(next as Record<string, string>) });
    location.hash = words.toString();
  }
  get view(): View | undefined {
    return this.place.view;
  }
  // Undefined for what is none.
  number(kind: Kind): number | undefined {
    const text = this.place[kind]?.replaceAll(",", "");
    return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  }
  private what(): Place {
    const { view: _, ...what } = this.place;
    return what;
  }
  private read(): void {
    const words = new URLSearchParams(location.hash.slice(1));
    const place: Place = {};
    const view = words.get("view") as View;
    if (views.includes(view)) place.view = view;
    for (const kind of kinds) {
      const value = words.get(kind);
      if (value !== null) place[kind] = value.slice(0, 40);
    }
    this.place = place;
    this.dispatchEvent(new Event("change"));
  }
}
export const selection = new Selection();

// Draws its element again when the selection changes.
export class FollowsSelection implements ReactiveController {
  private readonly change = () => {
    this.changed?.();
    this.host.requestUpdate();
  };
  constructor(private host: ReactiveControllerHost, private changed?: () => void) {
    host.addController(this);
  }
  hostConnected(): void {
    selection.addEventListener("change", this.change);
  }
  hostDisconnected(): void {
    selection.removeEventListener("change", this.change);
  }
}

export const linkTo = (place: Place) => "#" + new URLSearchParams(place as Record<string, string>).toString();
