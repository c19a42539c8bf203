/** The view of the channels for a service such as ChanServ, and what it can change. */
import type { Keeping, KeptChannel, ObservedActor } from "../options.ts";
import type { Outbound } from "../outbound.ts";
import { truncate } from "../protocol/text.ts";
import type { ServerState } from "../state.ts";
import { givenStatus } from "./access.ts";
import { inTurn, keptForm, noteChange, storeChange } from "./keeping.ts";
import { formatModes, MemberStatus, type ModeChange } from "./modes.ts";
import type { Channel, Client } from "../members.ts";

/** A status that a member of a channel can be given. */
export type GrantableStatus = "operator" | "voice";

const GRANTABLE = {
  operator: { letter: "o", bit: MemberStatus.OPERATOR },
  voice: { letter: "v", bit: MemberStatus.VOICE },
} as const;

/** A change of a user's status. */
export interface StatusChange {
  readonly add: boolean;
  readonly status: GrantableStatus;
  /** The nick of the service that makes the change, as shown in the channel. */
  readonly by: string;
  /** Its creator, for observers. */
  readonly actor: ObservedActor;
}

/** A member of a channel. */
export interface ChannelMember {
  readonly nick: string;
  readonly account: string | null;
  /** Whether it belongs to the embedding program, above all modes. */
  readonly privileged: boolean;
}

/** The channels of a server, for the services on it. */
export class ChannelControl {
  readonly #state: ServerState;

  constructor(state: ServerState) {
    this.#state = state;
  }

  /** Whether a user is operator in a channel; null if it is no member or the channel does not exist. */
  isOperator(nick: string, channel: string): boolean | null {
    const [found, client] = [this.#state.findChannel(channel), this.#state.findClient(nick)];
    if (found === undefined || client === undefined || !found.members.has(client)) return null;
    return found.isOperator(client);
  }

  /** The member of a channel with this nick, or null. */
  member(channel: string, nick: string): ChannelMember | null {
    const client = this.#state.findClient(nick);
    if (client === undefined || !this.#state.findChannel(channel)?.members.has(client)) return null;
    return { nick: client.nick, account: client.account, privileged: client.privileged };
  }

  /** The present state of a channel, as a keeper stores it; null if the channel does not exist. */
  state(channel: string): KeptChannel | null {
    const found = this.#state.findChannel(channel);
    return found === undefined ? null : keptForm(found);
  }

  /**
   * Starts or stops reporting every change of a channel to the keeper. Does nothing for an empty
   * channel. Resolves when the current state is stored, or must be tried again.
   *
   * @param founder the account to which it belongs if it is not kept
   */
  async setKept(channel: string, kept: boolean, founder: string | null): Promise<void> {
    const found = this.#state.findChannel(channel);
    if (found === undefined) return;
    found.isKept = kept;
    found.founder = founder;
    await this.#state.options.channels?.changed(keptForm(found));
  }

  /** Changes the status of one member. False if nothing changes. */
  setStatus(channel: string, nick: string, change: StatusChange): boolean {
    const [found, client] = [this.#state.findChannel(channel), this.#state.findClient(nick)];
    return found !== undefined && client !== undefined && this.#apply(found, [client], change) > 0;
  }

  /** Changes the topic of a channel. Tells whether it is stored; null if there is no such channel. */
  async setTopic(
    channel: string,
    text: string,
    { by, actor }: Pick<StatusChange, "by" | "actor">,
  ): Promise<Keeping | null> {
    const [found, source] = [this.#state.findChannel(channel), this.#state.findClient(by)];
    if (found === undefined || source === undefined) return null;
    let outcome: Keeping = "refused";
    await inTurn(found, () => {
      const before = found.settings();
      const message = changeTopic(this.#state, found, source, text);
      return storeChange(this.#state, found, before, (keeping) => {
        outcome = keeping;
        if (keeping !== "stored") return;
        this.#tell(found, message);
        this.#state.observe((observer) => observer.topicChanged?.({ actor, channel: found.name }));
      });
    });
    return outcome;
  }

  /** Changes the status of all sessions of an account in the channel; returns their number. */
  setAccountStatus(channel: string, account: string, change: StatusChange): number {
    const found = this.#state.findChannel(channel);
    if (found === undefined) return 0;
    return this.#apply(found, this.#state.sessionsOf(account), change);
  }

  /**
   * Removes the operator status of members who got it by joining first, because the channel now
   * belongs to the program. Does nothing in a kept channel.
   */
  claim(channel: string): void {
    const found = this.#state.findChannel(channel);
    if (found === undefined || found.isKept) return;
    found.founder = null;
    const { options, serverName } = this.#state;
    const squatters = [...found.members.keys()].filter(({ account }) => {
      const given = account === null ? 0 : givenStatus(options, account, found) ?? 0;
      return (given & MemberStatus.OPERATOR) === 0;
    });
    const actor = { nick: serverName, account: null, address: "internal" };
    this.#apply(found, squatters, { add: false, status: "operator", by: serverName, actor });
    noteChange(this.#state, found);
  }

  #apply(channel: Channel, clients: readonly Client[], { add, status, by, actor }: StatusChange) {
    const { letter, bit } = GRANTABLE[status];
    const changes: ModeChange[] = [];
    for (const client of clients) {
      const before = channel.members.get(client);
      if (before === undefined || client.privileged) continue;
      const after = add ? before | bit : before & ~bit;
      if (after === before) continue;
      channel.setMember(client, after);
      changes.push({ add, letter, param: client.nick });
    }
    for (const change of changes) {
      const modes = formatModes([change]);
      const source = this.#state.findClient(by);
      const content = { params: [channel.name, ...modes] };
      const message = source === undefined
        ? this.#state.messageFromServer("MODE", content)
        : this.#state.messageFrom(source, "MODE", content);
      this.#tell(channel, message);
      const event = { actor, channel: channel.name, changes: modes.join(" ") };
      this.#state.observe((observer) => observer.modeChanged?.(event));
    }
    return changes.length;
  }

  #tell(channel: Channel, message: Outbound): void {
    for (const member of channel.listeners) member.send(message);
    this.#state.history.recordInChannel(channel, message);
  }
}

/** Changes the topic of a channel. Returns the message that tells its members. */
export function changeTopic(
  state: ServerState,
  channel: Channel,
  source: Client,
  topic: string,
): Outbound {
  const text = truncate(topic, state.limits.topicBytes);
  channel.topic = text === "" ? null : { text, setBy: source.mask, setAt: state.now() };
  return state.messageFrom(source, "TOPIC", { params: [channel.name], text });
}
