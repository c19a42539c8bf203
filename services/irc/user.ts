/** Users in whose name the embedding program speaks, with or without a connection of their own. */

import type { Client } from "./client.ts";
import type { CommandCall } from "./command.ts";
import { type ChannelStanding, channelStanding, givenStatus } from "./channels/access.ts";
import { joinChannel, joinRefusal, leaveChannel } from "./commands/membership.ts";
import { deliverToUser, sendToChannel, type Standing } from "./commands/messages.ts";
import { ERR_NOSUCHCHANNEL, type Numeric } from "./protocol/numerics.ts";
import { encodedLength, type MessageText, type Outbound } from "./outbound.ts";
import { claimNick, isSameAccount } from "./admission/registration.ts";
import type { IrcLimits } from "./options.ts";
import { Reply } from "./reply.ts";
import type { ServerState } from "./state.ts";
import { isService } from "./users/service.ts";
import { VirtualClient } from "./users/virtual_client.ts";

/** Who a user is. */
export interface UserIdentity {
  readonly nick: string;
  readonly account: string;
  /** What WHOIS tells of a user without a connection. */
  readonly realname: string;
}

/** The result of speaking for a user: the ids of the messages, or the reason of the refusal. */
export type Spoken =
  | { readonly kind: "sent"; readonly ids: readonly string[] }
  | { readonly kind: "refused"; readonly reason: string };

/** Result of a message to one user: `absent` if nobody has the nick. */
export type Told = Spoken | { readonly kind: "absent" };

/** The user name of users without a connection. */
const USER = "agent";

const NO_TAGS: ReadonlyMap<string, string> = new Map();

/** Adds a user without a connection. Null if its nick is not available. */
export function addVirtualUser(state: ServerState, identity: UserIdentity): Client | null {
  const { nick, account, realname } = identity;
  if (isSameAccount(account, state.findClient(nick)?.account ?? null)) return null;
  const client = new VirtualClient(state, { user: USER, realname });
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
  { nick, account, realname }: UserIdentity,
  channel: string,
): ChannelStanding {
  const sessions = state.sessionsOf(account).filter(({ registered }) => registered);
  if (sessions.length > 0) return channelStanding(state, sessions, channel);
  const client = new VirtualClient(state, { user: USER, realname });
  client.nick = nick;
  client.account = account;
  return channelStanding(state, [client], channel);
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
   */
  say(channel: string, texts: readonly string[]): Spoken {
    const call = this.#call("PRIVMSG");
    const standing = this.virtual ? this.#enter(call, channel) : this.#outside(call, channel);
    return this.#send(call, texts, (text) => sendToChannel(call, channel, text, standing));
  }

  /**
   * Sends texts to one user, joined to multiline messages as far as the limits allow.
   *
   * @param texts one line each, of at most {@link room} bytes
   */
  tell(nick: string, texts: readonly string[]): Told {
    const receiver = this.#state.findClient(nick);
    if (receiver === undefined) return { kind: "absent" };
    if (isService(receiver)) {
      return { kind: "refused", reason: `${receiver.nick} takes commands from IRC clients alone` };
    }
    const call = this.#call("PRIVMSG");
    const messages = joinedLines(texts, this.#state.limits);
    return this.#send(call, messages, (speech) => deliverToUser(call, receiver, speech));
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
    const { refusal } = reply;
    return refusal === null ? { kind: "sent", ids } : { kind: "refused", reason: refusal };
  }

  #enter(call: ProgramCall, channel: string): undefined {
    joinChannel(call, channel, "");
  }

  /** The status that a user who is not in the channel would get. */
  #outside({ reply }: ProgramCall, name: string): Standing | undefined {
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

  #call(command: string): ProgramCall {
    const reply = new ProgramReply(this.#state, this.#client);
    return { state: this.#state, client: this.#client, command, params: [], tags: NO_TAGS, reply };
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

  constructor(state: ServerState, client: Client) {
    super(state, client, null);
  }

  override numeric(numeric: Numeric): void {
    if (isRefusal(numeric)) this.refusal ??= numeric.text ?? numeric.code;
  }

  override numericText(numeric: Numeric, _params: readonly string[], text: string): void {
    if (isRefusal(numeric)) this.refusal ??= text;
  }
}

function isRefusal({ code }: Numeric): boolean {
  return code >= "400";
}
