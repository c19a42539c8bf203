import type { LeftBehind } from "../fossil/mod.ts";

/** How many pushes are remembered; further ones displace those that said nothing for longest. */
const MAX_PUSHES = 200;
/** A client that says nothing for so long has gone, in milliseconds. */
const MAX_SILENCE_MS = 10 * 60_000;

/** What pushes have left out so far: one push of each caller to each project. */
export class LeftBehindParts {
  readonly #clock: () => number;
  readonly #pushes = new Map<string, { readonly parts: LeftBehind; readonly at: number }>();

  /** @param clock tells Unix milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** What a push has left out; null for nothing. */
  of(push: string): LeftBehind | null {
    const kept = this.#pushes.get(push);
    if (kept === undefined || this.#clock() - kept.at > MAX_SILENCE_MS) return null;
    return kept.parts;
  }

  /** Notes what an answer has left out; null once the push ends. */
  note(push: string, parts: LeftBehind | null): void {
    this.#pushes.delete(push);
    if (parts === null) return;
    this.#pushes.set(push, { parts, at: this.#clock() });
    const [oldest] = this.#pushes.keys();
    if (this.#pushes.size > MAX_PUSHES && oldest !== undefined) this.#pushes.delete(oldest);
  }
}
