import assert from "node:assert/strict";
import type { Answer, Client } from "./client.ts";

/** A part of the server's content as text; null if it does not exist. */
type State = string | null;

/** A part of the server's content that one client changes. */
export interface Fact {
  readonly name: string;
  /** Reads the state from the server. */
  read(client: Client): Promise<State>;
  /** The state after the last request that was answered. */
  known: State;
}

/** A request that was not answered: all of its changes were made, or none. */
type Open = readonly (readonly [fact: Fact, asked: State])[];

/** What the server has acknowledged, to be compared with what it shows after a kill. */
export class Facts {
  readonly #changed = new Set<Fact>();
  readonly #open: Open[] = [];
  readonly #all: Fact[] = [];
  acknowledged = 0;

  /** Adds something that does not exist yet. */
  add(name: string, read: Fact["read"]): Fact {
    const fact: Fact = { name, read, known: null };
    this.#all.push(fact);
    return fact;
  }

  /**
   * Notes the states that facts have once a request succeeds, and whether it did.
   *
   * @throws AssertionError if the request was refused
   */
  async change<Body>(
    changes: Open,
    send: () => Promise<Answer<Body> | null>,
  ): Promise<Answer<Body> | null> {
    for (const [fact] of changes) this.#changed.add(fact);
    const answer = await send();
    if (answer === null) {
      this.#open.push(changes);
      return null;
    }
    const what = changes.map(([fact]) => fact.name).join(" and ");
    assert.ok(answer.status < 300, `${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    for (const [fact, asked] of changes) fact.known = asked;
    this.acknowledged++;
    return answer;
  }

  /**
   * Compares what changed since the last check with the server; everything, with `all`.
   *
   * @throws AssertionError if something acknowledged is lost, or something is half done
   */
  async check(client: Client, all = false): Promise<void> {
    for (const open of this.#open.splice(0)) {
      const states = await Promise.all(open.map(([fact]) => fact.read(client)));
      const done = open.filter(([, asked], index) => states[index] === asked);
      const what = open.map(([fact]) => fact.name).join(" and ");
      assert.ok(done.length === 0 || done.length === open.length, `${what}: half done, ${states}`);
      for (const [fact, asked] of done) fact.known = asked;
    }
    for (const fact of all ? this.#all : this.#changed) {
      assert.equal(await fact.read(client), fact.known, fact.name);
    }
    this.#changed.clear();
  }
}
