/** Where somebody sees what a bot does. */
export type View = "irc" | "rest" | "events";

const VIEWS: readonly View[] = ["irc", "rest", "events"];

/** What each bot was seen doing: by an IRC client, over REST, and in the event log. */
export class Ledger {
  readonly #facts = new Map<string, Map<View, string>>();

  /** @param bots those that must do their part */
  constructor(bots: readonly string[]) {
    for (const bot of bots) this.#facts.set(bot, new Map());
  }

  note(bot: string, view: View, fact: string): void {
    this.#facts.get(bot)?.set(view, fact);
  }

  /** Each bot and view of which there is no fact. */
  missing(): string[] {
    return Array.from(this.#facts).flatMap(([bot, facts]) =>
      VIEWS.filter((view) => !facts.has(view)).map((view) => `${bot} (${view})`)
    );
  }

  /** The facts, as lines of a table. */
  table(): string[] {
    return Array.from(this.#facts).flatMap(([bot, facts]) =>
      VIEWS.map((view, row) =>
        `${(row === 0 ? bot : "").padEnd(10)} ${view.padEnd(7)} ${facts.get(view) ?? "MISSING"}`
      )
    );
  }
}
