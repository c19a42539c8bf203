import type { Roster, RosterEntry } from "../agents/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { waitInWords } from "../waiting_words.ts";
import { type AddressedText, type Tracking, UNTRACKED } from "./entry.ts";
import type { Inbox } from "./inbox.ts";
import type { InboxStore } from "./inbox_store.ts";
import type { Sent } from "./sent_messages.ts";
import type { ReturnNotices } from "./return_notices.ts";

/** Characters of a message that are quoted when it comes back. */
const MAX_QUOTED = 200;

export interface BouncesOptions {
  readonly roster: Pick<Roster, "get">;
  /** How long a message waits for an agent before it goes back, in milliseconds; null: never. */
  readonly queueTime: number | null;
  /** Tells people of their messages that came back. */
  readonly returns: Pick<ReturnNotices, "take">;
  /** Null if messages are kept in memory only. */
  readonly store: InboxStore | null;
  readonly scheduler: Pick<Scheduler, "now">;
  readonly log: Log;
}

/** The inboxes of agents. */
export interface OpenInboxes {
  inboxOf(agent: RosterEntry): Inbox;
  /** Those that were used since the start. */
  opened(): Iterable<Inbox>;
}

/** A message that goes back, its receiver, and the reason. */
interface Bounced {
  readonly agent: RosterEntry;
  readonly message: AddressedText;
  readonly why: string;
}

/** Sends messages back that agents did not get. */
export class Bounces {
  readonly #options: BouncesOptions;
  readonly #inboxes: OpenInboxes;

  constructor(options: BouncesOptions, inboxes: OpenInboxes) {
    this.#options = options;
    this.#inboxes = inboxes;
  }

  /** Messages that go back to their senders next, in that order. */
  async expiring(): Promise<readonly Sent[]> {
    const { store } = this.#options;
    if (store === null) {
      return Array.from(this.#inboxes.opened(), (inbox) => inbox.expiring()).flat()
        .toSorted((one, other) => (one.expiresAt ?? 0) - (other.expiresAt ?? 0));
    }
    await store.flush();
    return await store.expiring();
  }

  /** Returns a message to its sender, unless the agent had it meanwhile. */
  async bounceExpired(sent: Sent): Promise<void> {
    const { accountId, id, time, senderId, clientId, expiresAt } = sent;
    const { roster, store, queueTime } = this.#options;
    const agent = roster.get(accountId);
    const inbox = agent === null ? null : this.#inboxes.inboxOf(agent);
    const messages = await inbox?.load();
    if (agent === null || inbox === null || messages === undefined || !inbox.has(id)) {
      // A row without an entry must not be found again and again.
      return store?.release(accountId, [time], "dropped");
    }
    const message = inbox.find(messages, id);
    if (message === null) return;
    const why = `it was away for ${waitInWords(Math.round((queueTime ?? 0) / 1000))}`;
    await this.returnTo({ agent, message, why }, { senderId, clientId, expiresAt });
    inbox.expire(messages, id);
    await store?.flush();
  }

  /** Tells the sender of a message that it came back: an agent in its inbox. */
  async returnTo(
    { agent, message: { id, text }, why }: Bounced,
    { senderId }: Tracking,
  ): Promise<void> {
    const { roster, scheduler, log, returns } = this.#options;
    const sender = senderId === null ? null : roster.get(senderId);
    log.info("A message came back", { to: agent.nick, from: sender?.nick ?? senderId, why });
    if (senderId === null) return;
    const quoted = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
    const sentence = `"${agent.nick}" did not get your message, because ${why}: ${quoted}`;
    if (sender === null) return returns.take({ agent, senderId, text: sentence });
    const message: AddressedText = {
      id: `bounce-${id}`,
      kind: "bounce",
      from: agent.nick,
      account: null,
      channel: null,
      message: id,
      text: sentence,
    };
    const arrival = {
      message,
      time: scheduler.now(),
      state: "queued",
      tracking: UNTRACKED,
    } as const;
    await this.#inboxes.inboxOf(sender).addOnce(arrival);
  }
}
