import { inPieces, joinArray } from "../../kernel/pieces.ts";
import { type AgentRow, type AgentState, describeAgent } from "./records.ts";

/** An agent's JSON, and the values in it that change without its record. */
interface Written {
  /** The constant parts around these values. */
  readonly head: string;
  readonly tail: string;
  state: AgentState;
  /** When it was last seen, as JSON. */
  seen: string;
  text: string;
}

/**
 * Formats agents as JSON. A record is formatted once; when the agent was last seen, whether it is
 * online, what it does and how much it sends are added when they change.
 */
export class AgentTexts {
  /** By the record, which is replaced when it changes. */
  readonly #written = new WeakMap<AgentRow, Written>();
  /** The list that was asked for last, and its parts: it is asked for far more often than it changes. */
  #last: { readonly parts: readonly string[]; readonly text: string } = { parts: [], text: "[]" };

  /** The JSON array of agents. */
  async list(rows: readonly AgentRow[], stateOf: (row: AgentRow) => AgentState): Promise<string> {
    const parts: string[] = [];
    await inPieces(rows, (row) => parts.push(this.#of(row, stateOf(row))));
    const last = this.#last;
    const isLast = parts.length === last.parts.length &&
      parts.every((part, index) => part === last.parts[index]);
    if (isLast) return last.text;
    const text = joinArray(parts);
    this.#last = { parts, text };
    return text;
  }

  /** The JSON of {@link describeAgent}. */
  #of(row: AgentRow, state: AgentState): string {
    const written = this.#written.get(row);
    if (written === undefined) return this.#add(row, state);
    if (!areSame(written.state, state)) update(written, state);
    return written.text;
  }

  #add(row: AgentRow, state: AgentState): string {
    const {
      last_seen,
      online: _o,
      state: _s,
      quiet_minutes: _q,
      messages_per_minute: _m,
      rate_limit,
      ...known
    } = describeAgent(row, state);
    const written = {
      head: `${JSON.stringify(known).slice(0, -1)},"last_seen":`,
      tail: `,"rate_limit":${JSON.stringify(rate_limit)}}`,
      state,
      seen: JSON.stringify(last_seen),
      text: "",
    };
    write(written);
    this.#written.set(row, written);
    return written.text;
  }
}

function areSame(one: AgentState, other: AgentState): boolean {
  return one.lastSeen === other.lastSeen && one.online === other.online &&
    one.messagesPerMinute === other.messagesPerMinute && one.work?.state === other.work?.state &&
    one.work?.quietMinutes === other.work?.quietMinutes;
}

function update(written: Written, state: AgentState): void {
  const { lastSeen } = state;
  if (written.state.lastSeen !== lastSeen) {
    written.seen = JSON.stringify(lastSeen === null ? null : new Date(lastSeen).toISOString());
  }
  written.state = state;
  write(written);
}

/** Writes the text. A joined text is in one piece, so that it is only copied into that of a list. */
function write(written: Written): void {
  const { head, seen, state: { online, messagesPerMinute, work }, tail } = written;
  written.text = [
    head,
    seen,
    ',"online":',
    online,
    work === undefined ? "" : `,"state":"${work.state}","quiet_minutes":${work.quietMinutes}`,
    ',"messages_per_minute":',
    messagesPerMinute,
    tail,
  ]
    .join("");
}
