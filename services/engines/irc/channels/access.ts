/** Decides who may join a channel and who may read it, for every protocol. */

import { isAdmitted } from "./closing.ts";
import { keptChannel } from "./keeping.ts";
import { ChannelFlag, MemberStatus } from "./modes.ts";
import type { ChannelStatus, IrcServerOptions } from "../options.ts";
import {
  ERR_BADCHANNELKEY,
  ERR_BANNEDFROMCHAN,
  ERR_CHANNELISFULL,
  ERR_INVITEONLYCHAN,
  type Numeric,
} from "../protocol/numerics.ts";
import type { ServerState } from "../state.ts";
import type { Channel, Client } from "../members.ts";

/** A user's relation to a channel. */
export interface ChannelStanding {
  /** Whether anybody is in the channel. */
  readonly exists: boolean;
  readonly member: boolean;
  /**
   * Whether it may know that the channel exists; true also for a channel that does not exist, unless
   * the accounts close its name.
   */
  readonly visible: boolean;
  /** Why it could not join the channel now; null if it could, or is a member. */
  readonly refusal: string | null;
}

/**
 * The relation of several clients, taken together as one user, to a channel. They may read it if
 * one of them is a member, or if one may know of it and could join.
 */
export function channelStanding(
  state: ServerState,
  clients: readonly Client[],
  name: string,
): ChannelStanding {
  const live = state.findChannel(name);
  const exists = live !== undefined;
  if (live !== undefined && clients.some((client) => live.members.has(client))) {
    return { exists, member: true, visible: true, refusal: null };
  }
  const channel = live ?? keptChannel(state, name);
  const admitted = clients.map((client) => isAdmitted(state, client, name));
  if (admitted.includes(false) && !admitted.includes(true)) {
    const visible = clients.some((client) => live?.isVisibleTo(client) ?? false);
    return { exists, member: false, visible, refusal: ERR_INVITEONLYCHAN.text ?? null };
  }
  if (channel === undefined) return { exists, member: false, visible: true, refusal: null };
  const visible = clients.some((client) => knowsOf(state, client, channel));
  const refusals = clients.map((client) => entryRefusal(state, client, channel, ""));
  const refusal = refusals.includes(null) ? null : refusals[0]?.text ?? null;
  return { exists, member: false, visible, refusal };
}

/** Members, invited users and its operators by right know of a secret channel. */
function knowsOf(state: ServerState, client: Client, channel: Channel): boolean {
  const { options } = state;
  return isAdmitted(state, client, channel.name) === true || channel.isVisibleTo(client) ||
    channel.holdsInvitation(client) || channel.expects(client) ||
    isItsOperator(options, client, channel);
}

/** The reason why a channel refuses a client with this key; null if it does not. */
export function entryRefusal(
  state: ServerState,
  client: Client,
  channel: Channel,
  key: string,
): Numeric | null {
  const { options } = state;
  if (client.privileged) return null;
  const admitted = isAdmitted(state, client, channel.name);
  if (admitted === false) return ERR_INVITEONLYCHAN;
  if (admitted) return channel.isBanned(client) ? ERR_BANNEDFROMCHAN : null;
  if (isItsOperator(options, client, channel)) return null;
  if (channel.expects(client)) return channel.isBanned(client) ? ERR_BANNEDFROMCHAN : null;
  if (channel.key !== null && channel.key !== key) return ERR_BADCHANNELKEY;
  if (channel.holdsInvitation(client)) return null;
  if (channel.userLimit !== null && channel.members.size >= channel.userLimit) {
    return ERR_CHANNELISFULL;
  }
  if (channel.has(ChannelFlag.INVITE_ONLY) && !channel.isInvited(client)) {
    return ERR_INVITEONLYCHAN;
  }
  return channel.isBanned(client) ? ERR_BANNEDFROMCHAN : null;
}

/** Whether a channel belongs to the program. */
export function isOwned({ accounts }: Readonly<IrcServerOptions>, { name }: Channel): boolean {
  return accounts.ownsChannel?.(name) ?? false;
}

/**
 * Whether the accounts make the client operator of a channel that only they give operators: a kept
 * one, or one of the program that was restored. The client may then join whatever the modes.
 */
function isItsOperator(
  options: Readonly<IrcServerOptions>,
  { account }: Client,
  channel: Channel,
): boolean {
  if (account === null) return false;
  if (!channel.isKept && !(channel.isRestored && isOwned(options, channel))) return false;
  const given = givenStatus(options, account, channel);
  return given !== null && (given & MemberStatus.OPERATOR) !== 0;
}

const GIVEN_STATUS: Readonly<Record<ChannelStatus, number>> = {
  operator: MemberStatus.OPERATOR,
  voice: MemberStatus.VOICE,
  none: 0,
};

/** The status that the accounts give an account in a channel; null if they leave it open. */
export function givenStatus(
  { accounts }: Readonly<IrcServerOptions>,
  account: string,
  channel: Channel,
): number | null {
  const given = accounts.channelStatus(account, channel.name);
  return given === null ? null : GIVEN_STATUS[given];
}
