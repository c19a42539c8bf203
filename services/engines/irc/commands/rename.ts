/** RENAME (IRCv3 "channel-rename"). */

import { Cap } from "../protocol/capabilities.ts";
import { inTurn, keptChannel, refuseChange } from "../channels/keeping.ts";
import type { CommandCall } from "../command.ts";
import { foldCase, isChannelName } from "../protocol/names.ts";
import { ERR_CHANOPRIVSNEEDED, ERR_NOSUCHCHANNEL, ERR_NOTONCHANNEL } from "../protocol/numerics.ts";
import { truncate } from "../protocol/text.ts";
import { Reply } from "../reply.ts";
import { joinMessages, sendChannel } from "./membership.ts";
import type { Channel } from "../members.ts";

/** How long a channel keeps a new name before it can be renamed again. */
const RENAME_PAUSE_MILLISECONDS = 60_000;

/** Most nicks that one RENAME sends to members without the capability, which see PART and JOIN. */
const NAMES_SENT = 1_000_000;

/**
 * RENAME channel name [reason], by an operator of the channel. Clients with the capability receive
 * RENAME; the others see themselves part the old channel and join the new one.
 *
 * A channel that others refer to by name cannot be renamed: a registered one, one in an agent's
 * registration, or one with readers over HTTP, who would be left with an empty channel.
 */
export function rename(call: CommandCall): void | Promise<void> {
  const { state, client, params, reply } = call;
  const [asked = "", name = "", reason = ""] = params;
  const channel = state.findChannel(asked);
  if (!channel?.isVisibleTo(client)) return reply.numeric(ERR_NOSUCHCHANNEL, asked);
  if (!channel.members.has(client)) return reply.numeric(ERR_NOTONCHANNEL, channel.name);
  if (!channel.isOperator(client)) return reply.numeric(ERR_CHANOPRIVSNEEDED, channel.name);
  if (channel.changing !== null) return inTurn(channel, () => rename(call));
  const refusal = refusalOf(call, channel, name);
  if (refusal !== null) {
    return reply.fail("RENAME", refusal.code, [channel.name, name || "*"], refusal.text);
  }
  if (name === channel.name) return;

  const { name: before, renamedAt } = channel;
  const told = () => {
    const event = { actor: client.actor, channel: before, to: name };
    state.observe((observer) => observer.channelRenamed?.(event));
    return announce(call, channel, before, truncate(reason, state.limits.reasonBytes));
  };
  const stored = state.renameChannel(channel, name);
  if (stored === null) return told();
  const done = stored.then((keeping) => {
    channel.changing = null;
    const isThere = state.findChannel(name) === channel;
    const isFree = isThere && [undefined, channel].includes(state.findChannel(before));
    // What cannot be taken back is tried again.
    if (keeping === "stored" || !isFree) return told();
    state.renameChannel(channel, before);
    channel.renamedAt = renamedAt;
    refuseChange(call, channel, keeping);
  });
  channel.changing = done.catch(() => {});
  return done;
}

interface Refusal {
  readonly code: "CHANNEL_NAME_IN_USE" | "CANNOT_RENAME";
  readonly text: string;
}

function refusalOf({ state }: CommandCall, channel: Channel, name: string): Refusal | null {
  if (!isChannelName(name)) return cannot("This is no name of a channel");
  if (foldCase(name) === channel.foldedName) return null;
  if (state.isClosed(name)) return cannot("This name is reserved");
  if (state.findChannel(name) || keptChannel(state, name)) {
    return { code: "CHANNEL_NAME_IN_USE", text: "There is a channel of this name" };
  }
  if (isFixed(state.options.accounts, name)) return cannot("This name is reserved");
  const members = [...channel.members.keys()];
  if (
    channel.isKept || isFixed(state.options.accounts, channel.name) ||
    members.some((member) => member.privileged || member.virtual)
  ) {
    return cannot("This channel is known by its name outside of IRC");
  }
  if (channel.renamedAt !== null && state.now() - channel.renamedAt < RENAME_PAUSE_MILLISECONDS) {
    return cannot("This channel has been renamed recently");
  }
  const unaware = members.filter((member) => !member.hasCapability(Cap.CHANNEL_RENAME)).length;
  if (unaware * members.length > NAMES_SENT) return cannot("This channel has too many members");
  return null;
}

function cannot(text: string): Refusal {
  return { code: "CANNOT_RENAME", text };
}

function isFixed(
  accounts: CommandCall["state"]["options"]["accounts"],
  channel: string,
): boolean {
  return accounts.ownsChannel?.(channel) ?? false;
}

/** Notifies the members. Returns a promise if the client reads its own part slowly. */
function announce(
  call: CommandCall,
  channel: Channel,
  before: string,
  reason: string,
): void | Promise<void> {
  const { state, client } = call;
  const content = { params: [before, channel.name], text: reason };
  const message = state.messageFrom(client, "RENAME", content);
  const isOther = foldCase(before) !== channel.foldedName;
  let pending: Promise<void> | undefined;
  for (const member of channel.listeners) {
    const reply = member === client ? call.reply : new Reply(state, member, null);
    if (member.hasCapability(Cap.CHANNEL_RENAME)) {
      reply.message(message);
    } else if (isOther) {
      const shown = replay({ ...call, client: member, reply }, channel, before, reason);
      if (member === client) pending = shown || undefined;
      else shown?.catch((error) => state.log.error("A channel could not be listed", { error }));
    }
  }
  return pending;
}

/** Shows a client without RENAME that it left the old channel and joined the new one. */
function replay(
  call: CommandCall,
  channel: Channel,
  before: string,
  reason: string,
): void | Promise<void> {
  const { state, client, reply } = call;
  const content = reason === "" ? { params: [before] } : { params: [before], text: reason };
  reply.message(state.messageFrom(client, "PART", content));
  const { plain, extended } = joinMessages(state, client, channel);
  reply.message(client.hasCapability(Cap.EXTENDED_JOIN) ? extended : plain);
  return sendChannel(call, channel);
}
