/** What the embedding program reads and changes for an account, with or without a connection. */

import { joinLines, MessageHead, Outbound, repliedTo, timeOf } from "./outbound.ts";
import { STATUSES } from "./channels/modes.ts";
import { foldCase } from "./protocol/names.ts";
import { HistoryKind, type HistoryPart } from "./history/store.ts";
import { markReadFor } from "./commands/markread.ts";
import type { ServerState } from "./state.ts";
import { partId, type SeenChannel, visibleChannels } from "./user.ts";
import type { HistoryEntry } from "./history/log.ts";
import { possibleClient } from "./users/virtual_client.ts";
import type { UserIdentity } from "./options.ts";

/** A private message. */
export interface PrivateMessage {
  readonly id: string;
  /** The nick of the speaker. */
  readonly nick: string;
  /** The speaker's account; null for a guest. */
  readonly account: string | null;
  /** May have several lines; an ACTION as `* nick text`. */
  readonly text: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** The id of the message that it answers; absent if it answers none. */
  readonly reply?: string;
}

/** A part of a conversation. */
export interface ConversationQuery {
  /** The messages around the one with this id, which takes precedence. */
  readonly at?: string | undefined;
  /** Only the newest messages before the one with this id. */
  readonly before?: string | undefined;
  /** Only the first messages after the one with this id, or after a time of ISO 8601. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A correspondent of an account, and the time of the last message. */
export interface Correspondent {
  readonly nick: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** The server as an account sees it, for the pages of the embedding program. */
export class AccountView {
  readonly #state: ServerState;

  constructor(state: ServerState) {
    this.#state = state;
  }

  /** The channels that the account may know of. */
  channels(identity: UserIdentity): SeenChannel[] {
    return visibleChannels(this.#state, identity);
  }

  /** Every channel. */
  allChannels(): Omit<SeenChannel, "member">[] {
    return Array.from(this.#state.channels.values(), ({ name, topic, members }) => {
      return { name, topic: topic?.text ?? "", members: members.size };
    });
  }

  /** The sign of somebody's status in a channel, such as `@` for operators; empty for none. */
  sign(channel: string, nick: string): string {
    const client = this.#state.findClient(nick);
    if (client === undefined) return "";
    const status = this.#state.findChannel(channel)?.statusOf(client) ?? 0;
    return STATUSES.find(({ bit }) => status & bit)?.prefix ?? "";
  }

  /** How far the account has read, in Unix milliseconds; null if that is not known. */
  readUpTo(account: string, target: string): number | null {
    return this.#state.readMarkers.readOf(account, target);
  }

  /**
   * Moves the account's read marker forward, never back, and tells its sessions. Rejects if it
   * cannot be stored.
   *
   * @param time Unix milliseconds
   * @returns where the marker is afterwards
   */
  async markRead(account: string, target: string, time: number): Promise<number> {
    return await markReadFor(this.#state, account, target, time);
  }

  /**
   * A part of an account's conversation with the user of a nick, oldest first: by default the newest
   * messages.
   */
  async conversation(
    identity: UserIdentity,
    nick: string,
    { limit, ...wanted }: ConversationQuery,
  ): Promise<PrivateMessage[]> {
    const part = partOf(wanted);
    const client = possibleClient(this.#state, identity);
    const query = { part, limit, upTo: HistoryKind.MESSAGE };
    const found: PrivateMessage[] = [];
    for await (const entry of this.#state.history.read({ client, nick }, query)) {
      const message = privateMessage(entry);
      if (message !== null) found.push(message);
    }
    return found;
  }

  /** The correspondents of an account, the latest first. */
  async correspondents(identity: UserIdentity): Promise<Correspondent[]> {
    const client = possibleClient(this.#state, identity);
    const found = await this.#state.history.lastMessages(client, [0, this.#state.now() + 1]);
    return found.map(({ title, time }) => ({ nick: title, time }))
      .filter(({ nick }) => foldCase(nick) !== foldCase(identity.nick))
      .sort((one, other) => other.time - one.time);
  }

  /** Adds a notice of the server to the conversation of an account with another, and returns it. */
  note(other: UserIdentity, to: UserIdentity, text: string): PrivateMessage {
    const [sender, receiver] = [
      possibleClient(this.#state, other),
      possibleClient(this.#state, to),
    ];
    const { tags } = this.#state.messageFrom(sender, "NOTICE", { params: [to.nick], text });
    const message = new Outbound({
      head: new MessageHead({
        source: this.#state.serverName,
        command: "NOTICE",
        params: [to.nick],
      }),
      tags: { ...tags, account: null, bot: false },
      text,
    });
    this.#state.history.recordBetween(sender, receiver, message);
    const { msgid: id = "" } = tags;
    return { id, nick: this.#state.serverName, account: null, text, time: timeOf(tags) };
  }

  /** Whether the history takes messages at the moment. */
  get takesMessages(): boolean {
    return this.#state.history.takesMessages;
  }

  /** Whether an account has said this to the user of a nick. */
  async hasSaid(from: UserIdentity, nick: string, id: string): Promise<boolean> {
    const client = possibleClient(this.#state, from);
    return await this.#state.history.find({ client, nick }, id) !== null;
  }

  /**
   * Adds messages to the history of two accounts, of which one is absent, and returns them. Stops at
   * the first that cannot be stored.
   *
   * @param given the id of the first, from which those of the others follow; new ones, if absent
   */
  record(
    from: UserIdentity,
    to: UserIdentity,
    texts: readonly string[],
    given?: string,
  ): PrivateMessage[] {
    const [sender, receiver] = [from, to].map((one) => {
      const present = this.#state.findClient(one.nick);
      return present !== undefined && isOf(one, present.account)
        ? present
        : possibleClient(this.#state, one);
    });
    const stored: PrivateMessage[] = [];
    if (sender === undefined || receiver === undefined) return stored;
    for (const [index, text] of texts.entries()) {
      const id = given === undefined ? undefined : partId(given, index);
      const content = { params: [to.nick], text, id };
      const message = this.#state.messageFrom(sender, "PRIVMSG", content);
      if (!this.#state.history.sayBetween(sender, receiver, message)) break;
      const { msgid = "", account = null } = message.tags;
      const shown = shownText(from.nick, text) ?? text;
      stored.push({ id: msgid, nick: from.nick, account, text: shown, time: timeOf(message.tags) });
    }
    return stored;
  }
}

/** A time of ISO 8601, which no id looks like. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function partOf({ at, before, after }: Omit<ConversationQuery, "limit">): HistoryPart {
  if (at !== undefined) return { kind: "around", reference: { id: at } };
  if (before !== undefined) return { kind: "before", reference: { id: before } };
  if (after === undefined) return { kind: "latest", since: null };
  const reference = TIME.test(after) ? { time: Date.parse(after) } : { id: after };
  return { kind: "after", reference };
}

const CTCP = "\x01";
const ACTION = `${CTCP}ACTION `;

function privateMessage({ id, message }: HistoryEntry): PrivateMessage | null {
  const { source, text = "", tags } = message;
  const nick = source?.split("!", 1)[0] ?? "";
  const whole = typeof text === "string" ? text : joinLines(text);
  const shown = shownText(nick, whole);
  if (shown === null) return null;
  const reply = repliedTo(tags);
  const shared = { id, nick, account: tags.account ?? null, text: shown, time: timeOf(tags) };
  return reply === null ? shared : { ...shared, reply };
}

/** A text as people read it, an ACTION as `* nick text`; null for other CTCP messages. */
function shownText(nick: string, text: string): string | null {
  if (!text.startsWith(CTCP)) return text;
  if (!text.startsWith(ACTION)) return null;
  return `* ${nick} ${text.slice(ACTION.length).replaceAll(CTCP, "")}`;
}

function isOf({ account }: UserIdentity, other: string | null): boolean {
  return other !== null && foldCase(account) === foldCase(other);
}
