import type { AgentRow, AgentState } from "./records.ts";
import { describeAgent } from "./records.ts";

/** The constant parts of an agent's JSON, around the values that change without its record. */
interface Frame {
  readonly head: string;
  readonly tail: string;
  lastSeen: number | null;
  /** When it was last seen, as JSON. */
  seen: string;
}

/**
 * Formats agents as JSON. A record is formatted once; when the agent was last seen, whether it is
 * online and how much it sends are added each time.
 */
export class AgentTexts {
  /** By the record, which is replaced when it changes. */
  readonly #frames = new WeakMap<AgentRow, Frame>();

  /** The JSON of {@link describeAgent}. */
  of(row: AgentRow, { lastSeen, online, messagesPerMinute }: AgentState): string {
    const frame = this.#frames.get(row) ?? this.#add(row);
    if (frame.lastSeen !== lastSeen) {
      frame.lastSeen = lastSeen;
      frame.seen = JSON.stringify(lastSeen === null ? null : new Date(lastSeen).toISOString());
    }
    return `${frame.head}"last_seen":${frame.seen},"online":${online},` +
      `"messages_per_minute":${messagesPerMinute},${frame.tail}`;
  }

  #add(row: AgentRow): Frame {
    const state = { lastSeen: null, online: false, messagesPerMinute: 0 };
    const { last_seen, online: _o, messages_per_minute: _m, rate_limit, ...known } = describeAgent(
      row,
      state,
    );
    const frame: Frame = {
      head: `${JSON.stringify(known).slice(0, -1)},`,
      tail: `"rate_limit":${JSON.stringify(rate_limit)}}`,
      lastSeen: null,
      seen: JSON.stringify(last_seen),
    };
    this.#frames.set(row, frame);
    return frame;
  }
}
