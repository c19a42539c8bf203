import { inTurn, refuseChange, storeChange } from "../channels/keeping.ts";
import { canonicalMask, withHost } from "../channels/mask.ts";
import {
  CHANNEL_MODES,
  type ChannelMode,
  CLOSED_FLAGS,
  formatModes,
  formatUserModes,
  type ModeChange,
  MODES_PER_COMMAND,
  parseChannelModes,
  parseUserModes,
  USER_MODES,
} from "../channels/modes.ts";
import type { CommandCall } from "../command.ts";
import { MessageHead, Outbound } from "../outbound.ts";
import { cloakHost } from "../protocol/addresses.ts";
import { looksLikeChannel } from "../protocol/names.ts";
import {
  ERR_BANLISTFULL,
  ERR_CHANOPRIVSNEEDED,
  ERR_INVALIDMODEPARAM,
  ERR_NEEDMOREPARAMS,
  ERR_NOSUCHCHANNEL,
  ERR_NOSUCHNICK,
  ERR_UMODEUNKNOWNFLAG,
  ERR_UNKNOWNMODE,
  ERR_USERNOTINCHANNEL,
  ERR_USERSDONTMATCH,
  type Numeric,
  RPL_BANLIST,
  RPL_CHANNELMODEIS,
  RPL_CREATIONTIME,
  RPL_ENDOFBANLIST,
  RPL_ENDOFEXCEPTLIST,
  RPL_ENDOFINVITELIST,
  RPL_EXCEPTLIST,
  RPL_INVITELIST,
  RPL_UMODEIS,
} from "../protocol/numerics.ts";
import type { Channel } from "../members.ts";

/** MODE target [changes [parameters]]. Without changes, shows the modes. */
export function mode(call: CommandCall): void | Promise<void> {
  if (looksLikeChannel(call.params[0] ?? "")) return channelMode(call);
  userMode(call);
}

function userMode({ state, client, params, reply }: CommandCall): void {
  const nick = params[0] ?? "";
  const target = state.findClient(nick);
  if (!target) return reply.numeric(ERR_NOSUCHNICK, nick);
  if (target !== client) return reply.numeric(ERR_USERSDONTMATCH);
  if (params[1] === undefined) return reply.numeric(RPL_UMODEIS, formatUserModes(client.modes));

  const made: ModeChange[] = [];
  let unknown = false;
  for (const { add, letter } of parseUserModes(params[1])) {
    const definition = USER_MODES.get(letter);
    if (!definition) {
      unknown = true;
    } else if ((definition.settable || !add) && client.hasMode(definition.bit) !== add) {
      client.modes ^= definition.bit;
      made.push({ add, letter, param: null });
    }
  }
  if (unknown) reply.numeric(ERR_UMODEUNKNOWNFLAG);
  if (made.length === 0) return;
  const modes = formatModes(made);
  reply.message(state.messageFrom(client, "MODE", { params: [client.nick, ...modes] }));
}

/** Longest key, in characters. */
const KEY_LENGTH = 64;

/** Most changes without a parameter in one MODE: a line has room for thousands. */
const BARE_CHANGES = 100;

/** Longest mask of a list, in characters. */
const MASK_LENGTH = 200;

/** Characters of parameters after which a MODE message is split, for classic lines. */
const MESSAGE_LENGTH = 300;

const KEY = /^[^\p{Cc} ,:][^\p{Cc} ,]*$/u;
const USER_LIMIT = /^[1-9][0-9]{0,8}$/;

const LIST_REPLIES: Readonly<Record<string, { entry: Numeric; end: Numeric }>> = {
  b: { entry: RPL_BANLIST, end: RPL_ENDOFBANLIST },
  e: { entry: RPL_EXCEPTLIST, end: RPL_ENDOFEXCEPTLIST },
  I: { entry: RPL_INVITELIST, end: RPL_ENDOFINVITELIST },
};

/** MODE of a channel. */
export function channelMode(call: CommandCall): void | Promise<void> {
  const { state, client, params, reply } = call;
  const name = params[0] ?? "";
  const channel = state.findChannel(name);
  if (!channel?.isVisibleTo(client)) return reply.numeric(ERR_NOSUCHCHANNEL, name);
  if (params[1] === undefined) return sendModes(call, channel);
  if (channel.changing !== null) return inTurn(channel, () => channelMode(call));

  const before = channel.settings();
  const may = client.privileged || channel.isOperator(client);
  const made: ModeChange[] = [];
  const asked = new Set<string>();
  let refused = false;
  for (const change of limitChanges(parseChannelModes(params.slice(1)))) {
    const mode = CHANNEL_MODES.get(change.letter);
    if (!mode) reply.numeric(ERR_UNKNOWNMODE, change.letter);
    else if (mode.kind === "list" && change.param === null) asked.add(change.letter);
    else if (
      !may || (channel.isClosed && mode.kind === "flag" && (mode.bit & CLOSED_FLAGS) !== 0)
    ) {
      refused = true;
    } else {
      const applied = apply(call, channel, mode, change);
      if (applied) made.push(applied);
    }
  }
  for (const letter of asked) sendList(call, channel, letter);
  if (refused) reply.numeric(ERR_CHANOPRIVSNEEDED, channel.name);
  const statuses = made.filter(({ letter }) => CHANNEL_MODES.get(letter)?.kind === "status");
  if (statuses.length === made.length) return announce(call, channel, made);
  const noteAccess = () =>
    state.observe((observer) => observer.accessChanged?.({ channel: channel.name }));
  noteAccess();
  return storeChange(state, channel, before, (keeping) => {
    announce(call, channel, keeping === "stored" ? made : statuses);
    if (keeping === "stored") return;
    noteAccess();
    refuseChange(call, channel, keeping);
  });
}

function sendModes({ client, reply }: CommandCall, channel: Channel): void {
  const inside = channel.members.has(client) || client.privileged;
  reply.numeric(RPL_CHANNELMODEIS, channel.name, ...channel.modeParameters(inside));
  reply.numeric(RPL_CREATIONTIME, channel.name, String(Math.floor(channel.createdAt / 1000)));
}

function sendList({ reply }: CommandCall, channel: Channel, letter: string): void {
  const replies = LIST_REPLIES[letter];
  if (!replies) return;
  for (const { mask, setBy, setAt } of channel.list(letter)) {
    // A mask that begins with a colon can only be the last parameter; the others may be left out.
    const more = mask.startsWith(":") ? [] : [setBy, String(Math.floor(setAt / 1000))];
    reply.numeric(replies.entry, channel.name, mask, ...more);
  }
  reply.numeric(replies.end, channel.name);
}

/** Drops the changes beyond `MODES`, and beyond the most without a parameter. */
function limitChanges(changes: readonly ModeChange[]): ModeChange[] {
  let left = MODES_PER_COMMAND;
  let bare = BARE_CHANGES;
  return changes.filter(({ param }) => param === null ? bare-- > 0 : left-- > 0);
}

/** Makes one change. Returns it as others see it, or null if nothing changed. */
function apply(
  call: CommandCall,
  channel: Channel,
  mode: ChannelMode,
  change: ModeChange,
): ModeChange | null {
  switch (mode.kind) {
    case "flag":
      return channel.setFlag(mode.bit, change.add) ? change : null;
    case "status":
      return applyStatus(call, channel, mode, change);
    case "key":
      return applyKey(call, channel, change);
    case "setting":
      return applyLimit(call, channel, change);
    case "list":
      return applyList(call, channel, change);
  }
}

function applyStatus(
  { state, command, reply }: CommandCall,
  channel: Channel,
  { bit }: ChannelMode,
  { add, letter, param }: ModeChange,
): ModeChange | null {
  if (param === null || param === "") {
    reply.numeric(ERR_NEEDMOREPARAMS, command);
    return null;
  }
  const target = state.findClient(param);
  if (!target) {
    reply.numeric(ERR_NOSUCHNICK, param);
    return null;
  }
  const status = channel.members.get(target);
  if (status === undefined) {
    reply.numeric(ERR_USERNOTINCHANNEL, target.nick, channel.name);
    return null;
  }
  const changed = add ? status | bit : status & ~bit;
  if (changed === status) return null;
  channel.setMember(target, changed);
  return { add, letter, param: target.nick };
}

function applyKey(
  call: CommandCall,
  channel: Channel,
  { add, letter, param }: ModeChange,
): ModeChange | null {
  if (!add) {
    if (channel.key === null) return null;
    channel.key = null;
    return { add, letter, param: "*" };
  }
  if (param === null || param.length > KEY_LENGTH || !KEY.test(param)) {
    // Other members' logs must not contain the attempted key.
    refuseParameter(call, channel, letter, "*", "Key is not valid");
    return null;
  }
  if (channel.key === param) return null;
  channel.key = param;
  return { add, letter, param };
}

function applyLimit(
  call: CommandCall,
  channel: Channel,
  { add, letter, param }: ModeChange,
): ModeChange | null {
  if (!add) {
    if (channel.userLimit === null) return null;
    channel.userLimit = null;
    return { add, letter, param: null };
  }
  if (param === null || !USER_LIMIT.test(param)) {
    refuseParameter(call, channel, letter, param || "*", "Limit is not a positive number");
    return null;
  }
  if (channel.userLimit === Number(param)) return null;
  channel.userLimit = Number(param);
  return { add, letter, param };
}

function applyList(
  call: CommandCall,
  channel: Channel,
  { add, letter, param }: ModeChange,
): ModeChange | null {
  const { state, client, reply } = call;
  const fits = param !== null && param !== "" && !param.includes(" ") &&
    param.length <= MASK_LENGTH;
  const given = fits ? canonicalMask(param, letter) : null;
  const mask = given === null ? null : cloaked(call, given);
  if (mask === null) {
    refuseParameter(call, channel, letter, param || "*", "Mask is not valid");
    return null;
  }
  if (!add) {
    const removed = channel.removeFromList(letter, mask);
    return removed === null ? null : { add, letter, param: removed };
  }
  if (channel.list(letter).length >= state.limits.listEntries) {
    reply.numeric(ERR_BANLISTFULL, channel.name, mask);
    return null;
  }
  const added = channel.addToList(letter, mask, client.mask, state.now());
  return added ? { add, letter, param: mask } : null;
}

/**
 * Replaces an address in a mask by its cloak, for clients that may see addresses: lists match
 * cloaks, and the address stays secret.
 */
function cloaked({ state, client }: CommandCall, mask: string): string {
  if (!client.isOperator && !client.privileged) return mask;
  return withHost(mask, (host) => cloakHost(host, state.cloakKey));
}

function refuseParameter(
  { reply }: CommandCall,
  channel: Channel,
  letter: string,
  param: string,
  text: string,
): void {
  reply.numericText(ERR_INVALIDMODEPARAM, [channel.name, letter, param], text);
}

function announce(call: CommandCall, channel: Channel, changes: readonly ModeChange[]): void {
  const { state, client, reply } = call;
  for (const part of splitChanges(changes)) {
    const content = { params: [channel.name, ...formatModes(part)] };
    const message = state.messageFrom(client, "MODE", content);
    const told = formatModes(part.map(withoutKey));
    const parts = { source: client.mask, command: "MODE", params: [channel.name, ...told] };
    const kept = new Outbound({ head: new MessageHead(parts), tags: message.tags });
    state.tellChannel(channel, message, client, reply, kept);
    if (!channel.members.has(client)) reply.message(message);
    const event = { actor: client.actor, channel: channel.name, changes: told.join(" ") };
    state.observe((observer) => observer.modeChanged?.(event));
  }
}

/** Only present members may see the key of a channel, not observers or later readers. */
function withoutKey(change: ModeChange): ModeChange {
  return CHANNEL_MODES.get(change.letter)?.kind === "key" ? { ...change, param: "*" } : change;
}

function splitChanges(changes: readonly ModeChange[]): ModeChange[][] {
  const parts: ModeChange[][] = [];
  let length = MESSAGE_LENGTH;
  for (const change of changes) {
    if (length >= MESSAGE_LENGTH) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(change);
    // What begins with a colon can only be the last parameter.
    length += change.param?.startsWith(":") ? MESSAGE_LENGTH : 2 + (change.param?.length ?? 0);
  }
  return parts;
}
