/** Users in whose name the embedding program speaks, with or without a connection of their own. */

import type { CommandCall } from "./command.ts";
import { type ChannelStanding, channelStanding, givenStatus } from "./channels/access.ts";
import { MemberStatus } from "./channels/modes.ts";
import { joinChannel, joinRefusal, kick, leaveChannel } from "./commands/membership.ts";
import { channelMode } from "./commands/mode.ts";
import { deliverToUser, sendToChannel, type Standing } from "./commands/messages.ts";
import { markAway } from "./commands/user_state.ts";
import { setTopic, topic } from "./commands/topic.ts";
import { ERR_NOSUCHCHANNEL, type Numeric, UNAVAILABLE } from "./protocol/numerics.ts";
import type { MessageText, Outbound } from "./outbound.ts";
import { encodedLength } from "./protocol/text.ts";
import { claimNick, isSameAccount } from "./admission/registration.ts";
import type { IrcLimits, UserIdentity } from "./options.ts";
import { Reply } from "./reply.ts";
import type { ServerState } from "./state.ts";
import { isService } from "./users/service.ts";
import { newVirtualClient, possibleClient } from "./users/virtual_client.ts";
import type { Client } from "./members.ts";

/**
 * The result of speaking for a user: the ids of the messages, or the reason of the refusal.
 * `unavailable`: the message cannot be stored at the moment, and another attempt may succeed.
 */
export type Spoken =
  | { readonly kind: "sent"; readonly ids: readonly string[] }
  | { readonly kind: "refused" | "unavailable"; readonly reason: string };

/** What a message has beside its text. */
export interface SpeechMarks {
  /** The id of the message that it answers, if any. */
  readonly answered?: string | undefined;
  /** Its own id, which no other message has; a new one, if absent. */
  readonly id?: string | undefined;
}

/**
 * The id of one of the messages into which a long one is cut. The first has the id of the whole.
 *
 * @param index counts from 0
 */
export function partId(id: string, index: number): string {
  return index === 0 ? id : `${id}+${index + 1}`;
}

/** The id of the whole message, if this may be the id of a part of one. */
export function wholeId(id: string): string {
  return id.replace(/\+\d{1,9}$/, "");
}

/** Result of a message to one user: `absent` if nobody has the nick. */
export type Told = Spoken | { readonly kind: "absent" };

/** The standing of a user whom no mode and no ban silences. */
const OVERRIDING: Standing = Object.freeze({ member: true, status: MemberStatus.OPERATOR });

const NO_TAGS: ReadonlyMap<string, string> = new Map();

/** The client tag that names the message which a message answers (IRCv3 reply). */
const REPLY_TAG = "+draft/reply";

/** Adds a user without a connection. Null if its nick is not available. */
export function addVirtualUser(state: ServerState, identity: UserIdentity): Client | null {
  const { nick, account } = identity;
  if (isSameAccount(account, state.findClient(nick)?.account ?? null)) return null;
  const client = newVirtualClient(state, identity);
  state.setAccount(client, account);
  if (!claimNick(state, client, nick)) {
    state.setAccount(client, null);
    return null;
  }
  state.clients.add(client);
  state.setNick(client, nick);
  return client;
}

/** The relation of a user's sessions to a channel, or of a possible session if it has none. */
export function standingOf(
  state: ServerState,
  identity: UserIdentity,
  channel: string,
): ChannelStanding {
  return channelStanding(state, clientsOf(state, identity), channel);
}

/** The channels that a user may know of, in no order. */
export function visibleChannels(state: ServerState, identity: UserIdentity): SeenChannel[] {
  const clients = clientsOf(state, identity);
  const seen: SeenChannel[] = [];
  for (const { name, topic, members } of state.channels.values()) {
    const { visible, member } = channelStanding(state, clients, name);
    if (visible) seen.push({ name, topic: topic?.text ?? "", members: members.size, member });
  }
  return seen;
}

/** The registered sessions of a user, or a possible one if it has none. */
function clientsOf(state: ServerState, identity: UserIdentity): readonly Client[] {
  const sessions = state.sessionsOf(identity.account).filter(({ registered }) => registered);
  return sessions.length > 0 ? sessions : [possibleClient(state, identity)];
}

/** A channel in a user's list. */
export interface SeenChannel {
  readonly name: string;
  /** Empty if it has none. */
  readonly topic: string;
  readonly members: number;
  /** Whether the user is one of them. */
  readonly member: boolean;
}

/**
 * A user in whose name the embedding program speaks. A user with a connection keeps it and is not
 * moved into channels. Its client sees what is said in its name if it enabled `echo-message`.
 */
export class User {
  readonly #state: ServerState;
  readonly #client: Client;

  constructor(state: ServerState, client: Client) {
    this.#state = state;
    this.#client = client;
  }

  /** Whether it has no connection. */
  get virtual(): boolean {
    return this.#client.virtual;
  }

  /** Whether it is in the channel. */
  isIn(channel: string): boolean {
    return this.#state.findChannel(channel)?.members.has(this.#client) ?? false;
  }

  /** Joins a channel, if it has no connection. Returns the reason if the channel refuses it. */
  join(channel: string): string | null {
    if (!this.virtual) return null;
    const call = this.#call("JOIN");
    joinChannel(call, channel, "");
    this.#client.lastActiveAt = this.#state.now();
    return call.reply.refusal;
  }

  /**
   * Puts it back into a channel where it was before a restart, if it has no connection and the
   * channel does not refuse it. Nobody is told.
   */
  return(channel: string): void {
    if (this.virtual) joinChannel(this.#call("JOIN"), channel, "", true);
  }

  /**
   * Says that it is here, or away, if it has no connection.
   *
   * @param away the text for those who write to it; null if it is here
   * @param activeAt when it last did something, in Unix milliseconds
   */
  attend(away: string | null, activeAt: number): void {
    if (!this.virtual) return;
    this.#client.lastActiveAt = activeAt;
    markAway(this.#state, this.#client, away);
  }

  /**
   * Joins a channel as if it were invited and knew the key, if it has no connection. Returns the
   * reason if the channel refuses it all the same.
   */
  enter(channel: string): string | null {
    if (!this.virtual) return null;
    const found = this.#state.findChannel(channel);
    found?.invite(this.#client);
    const call = this.#call("JOIN");
    joinChannel(call, channel, found?.key ?? "");
    return call.reply.refusal;
  }

  /** Leaves a channel, if it has no connection and is in it. */
  part(channel: string): void {
    const found = this.#state.findChannel(channel);
    if (!this.virtual || !found?.members.has(this.#client)) return;
    leaveChannel(this.#call("PART"), found, undefined);
  }

  /**
   * Sends messages to a channel, one per text, and stops at the first refusal. A user without a
   * connection joins the channel first. A user with a connection need not be a member if it could
   * join.
   *
   * @param texts one line each, of at most {@link room} bytes
   * @param answered the id of the message that they answer, if any
   * @param overrides whether it may speak whatever the channel's modes and bans say
   */
  say(
    channel: string,
    texts: readonly string[],
    answered?: string,
    overrides: boolean = false,
  ): Spoken {
    const call = this.#call("PRIVMSG", answered);
    if (this.virtual) joinChannel(call, channel, "");
    const standing = overrides ? OVERRIDING : this.#outside(call, channel);
    // All of it or nothing is refused, so the guard judges the texts as one.
    let judged: string | null = texts.join("\n");
    return this.#send(call, texts, (text) => {
      const message = sendToChannel(call, channel, text, { standing, judged });
      judged = null;
      return message;
    });
  }

  /**
   * Sends texts to one user, joined to multiline messages as far as the limits allow.
   *
   * @param texts one line each, of at most {@link room} bytes
   */
  tell(nick: string, texts: readonly string[], marks: SpeechMarks = {}): Told {
    return this.#tell("PRIVMSG", nick, texts, marks);
  }

  /** As {@link tell}, by NOTICE, which no program answers (RFC 2812, section 3.3.2). */
  notify(nick: string, texts: readonly string[]): Told {
    return this.#tell("NOTICE", nick, texts, {});
  }

  /** Removes a member from a channel. Returns the reason if that is refused. */
  kick(channel: string, nick: string, reason: string): string | null {
    const call = this.#call("KICK", undefined, [channel, nick, reason]);
    kick(call);
    return call.reply.refusal;
  }

  /**
   * Changes modes of a channel. Resolves when the change of a kept channel is stored.
   *
   * @param changes the parameters of MODE, such as `+b` and `m:bob!*@*`
   * @returns the reason if a change is refused, or null
   */
  async changeModes(channel: string, changes: readonly string[]): Promise<string | null> {
    const call = this.#call("MODE", undefined, [channel, ...changes]);
    await channelMode(call);
    return call.reply.refusal;
  }

  #tell(
    command: string,
    nick: string,
    texts: readonly string[],
    { answered, id }: SpeechMarks,
  ): Told {
    const receiver = this.#state.findClient(nick);
    if (receiver === undefined) return { kind: "absent" };
    if (isService(receiver)) {
      return { kind: "refused", reason: `${receiver.nick} takes commands from IRC clients alone` };
    }
    const call = this.#call(command, answered);
    const messages = joinedLines(texts, this.#state.limits);
    const given = messages.keys().map((index) => id === undefined ? id : partId(id, index));
    return this.#send(
      call,
      messages,
      (speech) => deliverToUser({ ...call, id: given.next().value }, receiver, speech),
    );
  }

  /**
   * Changes the topic of a channel; an empty text removes it. A user without a connection joins the
   * channel first. Resolves when the change is stored or refused.
   *
   * @param text one line
   * @param overrides whether it may do so whatever the channel's modes say
   * @returns why it is refused; null if it is not
   */
  async setTopic(
    channel: string,
    text: string,
    overrides: boolean = false,
  ): Promise<Exclude<Spoken, { kind: "sent" }> | null> {
    const { topicBytes } = this.#state.limits;
    if (encodedLength(text) > topicBytes) {
      return { kind: "refused", reason: `A topic has at most ${topicBytes} bytes` };
    }
    const call = this.#call("TOPIC", undefined, [channel, text]);
    if (this.virtual) joinChannel(call, channel, "");
    const found = this.#state.findChannel(channel);
    if (overrides && found !== undefined) await setTopic(call, found, text);
    else if (call.reply.refusal === null) await topic(call);
    return call.reply.refused();
  }

  /** The most bytes of text in one line of this user to a channel or nick. */
  room(target: string): number {
    const frame = `:${this.#client.mask} PRIVMSG ${target} :\r\n`;
    return this.#state.limits.lineBytes - encodedLength(frame);
  }

  /** Removes it from the server, if it has no connection. */
  leave(reason: string): void {
    if (this.virtual) this.#state.disconnect(this.#client, reason);
  }

  /** Sends messages in turn until one is refused. */
  #send<Speech>(
    { reply }: ProgramCall,
    messages: readonly Speech[],
    send: (speech: Speech) => Outbound | null,
  ): Spoken {
    const ids: string[] = [];
    for (const speech of messages) {
      if (reply.refusal !== null) break;
      const message = send(speech);
      if (message !== null) ids.push(message.tags.msgid ?? "");
    }
    this.#client.lastActiveAt = this.#state.now();
    return reply.refused() ?? { kind: "sent", ids };
  }

  /** The status that a user with a connection would get in a channel that it is not in. */
  #outside({ reply }: ProgramCall, name: string): Standing | undefined {
    if (this.virtual) return undefined;
    const channel = this.#state.findChannel(name);
    const client = this.#client;
    if (channel === undefined) {
      reply.numeric(ERR_NOSUCHCHANNEL);
    } else if (!channel.members.has(client)) {
      const refusal = joinRefusal(this.#state, client, { name, channel, key: "" });
      if (refusal !== null) reply.numeric(refusal);
      const status = givenStatus(this.#state.options, client.account ?? "", channel) ?? 0;
      return { member: true, status };
    }
    return undefined;
  }

  #call(command: string, answered?: string, params: readonly string[] = []): ProgramCall {
    const reply = new ProgramReply(this.#state, this.#client);
    const tags = answered === undefined ? NO_TAGS : new Map([[REPLY_TAG, answered]]);
    return { state: this.#state, client: this.#client, command, params, tags, reply };
  }
}

/** Joins lines to multiline messages, within their limits. */
function joinedLines(
  texts: readonly string[],
  { multilineBytes, multilineLines }: IrcLimits,
): MessageText[] {
  const messages: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const length = encodedLength(text) + 1;
    const last = messages.at(-1);
    if (last === undefined || last.length >= multilineLines || bytes + length > multilineBytes) {
      messages.push([text]);
      bytes = length;
    } else {
      last.push(text);
      bytes += length;
    }
  }
  return messages.map((lines) =>
    lines.length === 1 ? lines.join("") : lines.map((text) => ({ text, concat: false }))
  );
}

interface ProgramCall extends CommandCall {
  readonly reply: ProgramReply;
}

/** Records the reason of a refusal for the program instead of sending it to the client. */
class ProgramReply extends Reply {
  refusal: string | null = null;
  /** Whether another attempt may succeed. */
  #isPassing = false;

  constructor(state: ServerState, client: Client) {
    super(state, client, null);
  }

  override numeric(numeric: Numeric): void {
    if (isRefusal(numeric)) this.refusal ??= numeric.text ?? numeric.code;
  }

  override numericText(numeric: Numeric, _params: readonly string[], text: string): void {
    if (isRefusal(numeric)) this.refusal ??= text;
  }

  override fail(
    _command: string,
    code: string,
    _context: readonly string[],
    description: string,
  ): void {
    if (this.refusal === null) this.#isPassing = code === UNAVAILABLE;
    this.refusal ??= description;
  }

  /** Why the command was refused; null if it was not. */
  refused(): Exclude<Spoken, { kind: "sent" }> | null {
    if (this.refusal === null) return null;
    return { kind: this.#isPassing ? "unavailable" : "refused", reason: this.refusal };
  }
}

function isRefusal({ code }: Numeric): boolean {
  return code >= "400";
}
