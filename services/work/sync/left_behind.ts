import type { LeftBehind } from "../../engines/fossil/mod.ts";

/** How many pushes are remembered; further ones displace those that said nothing for longest. */
const MAX_PUSHES = 200;
/** How many of one caller, whose clones may push at once. */
const MAX_OF_CALLER = 8;
/** A client that says nothing for so long has gone, in milliseconds. */
const MAX_SILENCE_MS = 10 * 60_000;

interface Push {
  readonly caller: string;
  readonly parts: LeftBehind;
  readonly at: number;
}

/** What pushes have left out so far: one push of each client of each caller to each project. */
export class LeftBehindParts {
  readonly #clock: () => number;
  /** Those that said nothing for longest first. */
  #pushes: readonly Push[] = [];

  /** @param clock tells Unix milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** What the pushes of a caller to a project have left out. */
  of(caller: string): readonly LeftBehind[] {
    const oldest = this.#clock() - MAX_SILENCE_MS;
    return this.#pushes.filter((push) => push.caller === caller && push.at >= oldest)
      .map(({ parts }) => parts);
  }

  /**
   * Notes what an answer has left out.
   *
   * @param client null if the answer does not tell which one it was for: all of the caller are forgotten
   * @param parts null once the push ends
   */
  note(caller: string, client: string | null, parts: LeftBehind | null): void {
    const added = parts === null ? [] : [{ caller, parts, at: this.#clock() }];
    const others = this.#pushes.filter((push) => push.caller !== caller);
    const own = this.#pushes.filter((push) =>
      push.caller === caller && client !== null && push.parts.client !== client
    );
    this.#pushes = [...others, ...[...own, ...added].slice(-MAX_OF_CALLER)].slice(-MAX_PUSHES);
  }
}
