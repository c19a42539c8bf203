/** Channels that outlive their members or the server: what is stored of them, and how they return. */

import { isMute } from "./mask.ts";
import { CHANNEL_MODES, CLOSED_FLAGS, NEW_CHANNEL_FLAGS } from "./modes.ts";
import type { ChannelKeeper, Keeping, KeptChannel, KeptEntry } from "../options.ts";
import { UNAVAILABLE } from "../protocol/numerics.ts";
import { Channel, type ChannelSettings, type Client } from "../members.ts";

/** Most members of a channel that may return to it after a restart despite its modes. */
const RETURNING_MEMBERS = 500;

/** The flags of a new channel. */
const DEFAULT_FLAGS = flagLetters(NEW_CHANNEL_FLAGS);

/** What keeping needs of the server. */
interface KeepingServer {
  readonly options: { readonly channels?: ChannelKeeper };
  /** The channels that exist, by folded name. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly isStopping: boolean;
}

/** The command whose change is not made, and its answer. */
interface RefusedCommand {
  readonly command: string;
  readonly reply: {
    fail(command: string, code: string, context: readonly string[], text: string): void;
  };
}

/** What the client learns whose change is not made. */
const REFUSALS = {
  refused: {
    code: UNAVAILABLE,
    text: "The change was not made, because it cannot be stored at the moment: try again",
  },
  full: {
    code: "LIMIT_REACHED",
    text: "The change was not made, because too many channels have a topic or modes of their own",
  },
} as const;

/** Whether a channel has no topic and the modes of a new one, so that nothing must be stored. */
export function hasDefaultState({ topic, flags, key, userLimit, lists }: KeptChannel): boolean {
  return topic === null && key === null && userLimit === null && flags === DEFAULT_FLAGS &&
    Object.keys(lists).length === 0;
}

/** Whether only some may join a channel. */
export function isConfined({ flags, key }: KeptChannel): boolean {
  return flags.includes("i") || key !== null;
}

/** Whether the messages of a channel are not for everybody: some may not join it or know of it. */
export function isSealed(channel: KeptChannel): boolean {
  const { flags, lists } = channel;
  const hasBans = (lists["b"] ?? []).some(({ mask }) => !isMute(mask));
  return isConfined(channel) || flags.includes("s") || hasBans;
}

/** A channel as it is stored. */
export function keptForm(channel: Channel): KeptChannel {
  const { name, createdAt, topic, key, userLimit, isKept, isClosed, founder } = channel;
  const flags = flagLetters(channel.flags & ~(isClosed ? CLOSED_FLAGS : 0));
  const lists: Record<string, readonly KeptEntry[]> = {};
  for (const { letter, kind } of CHANNEL_MODES.values()) {
    if (kind === "list" && channel.list(letter).length > 0) {
      lists[letter] = channel.list(letter).map(({ mask, setBy, setAt }) => ({
        mask,
        setBy,
        setAt,
      }));
    }
  }
  const members = channel.isConfined ? channel.accounts().slice(0, RETURNING_MEMBERS) : [];
  return {
    name,
    createdAt,
    topic: topic && { ...topic },
    flags,
    key,
    userLimit,
    lists,
    ...(isKept ? {} : { unregistered: { founder, members } }),
  };
}

/** The letters of flags, in the order of the table. */
function flagLetters(flags: number): string {
  return [...CHANNEL_MODES.values()]
    .filter(({ kind, bit }) => kind === "flag" && (flags & bit) !== 0)
    .map(({ letter }) => letter).join("");
}

/** Restores a channel from its stored state; omits modes that this server does not know. */
function restoreChannel(kept: KeptChannel): Channel {
  const channel = new Channel(kept.name, kept.createdAt);
  const { unregistered } = kept;
  channel.isKept = unregistered === undefined;
  channel.isRestored = channel.isAwaited = unregistered !== undefined;
  channel.founder = unregistered?.founder ?? null;
  for (const account of unregistered?.members ?? []) channel.expect(account);
  channel.topic = kept.topic && { ...kept.topic };
  channel.key = kept.key;
  channel.userLimit = kept.userLimit;
  channel.flags = 0;
  for (const { letter, kind, bit } of CHANNEL_MODES.values()) {
    if (kind === "flag" && kept.flags.includes(letter)) channel.setFlag(bit, true);
    if (kind !== "list") continue;
    for (const { mask, setBy, setAt } of kept.lists[letter] ?? []) {
      channel.addToList(letter, mask, setBy, setAt);
    }
  }
  return channel;
}

/** A stored channel without members; not yet among the channels of the server. */
export function keptChannel(
  { options }: Pick<KeepingServer, "options">,
  name: string,
): Channel | undefined {
  const kept = options.channels?.find(name) ?? null;
  return kept === null ? undefined : restoreChannel(kept);
}

/**
 * Reports what nobody was told as stored, such as a change of founder or members, to the keeper.
 * What is refused is tried again.
 */
export function noteChange({ options }: Pick<KeepingServer, "options">, channel: Channel): void {
  options.channels?.changed(keptForm(channel));
}

/** Runs a change of topic or modes once those of the channel before it are stored, or undone. */
export function inTurn<Result>(
  channel: Channel,
  change: () => Result | Promise<Result>,
): Result | Promise<Result> {
  return channel.changing === null
    ? change()
    : channel.changing.then(() => inTurn(channel, change));
}

/**
 * Stores a change of topic or modes, which holds already, and undoes it if that fails. Changes of
 * one channel must be made {@linkcode inTurn}.
 *
 * @param before the settings of the channel before the change
 * @param told announces the change, or the refusal; nobody may be told before
 */
export function storeChange(
  { options, channels }: Pick<KeepingServer, "options" | "channels">,
  channel: Channel,
  before: ChannelSettings,
  told: (keeping: Keeping) => void,
): void | Promise<void> {
  const keeper = options.channels;
  if (keeper === undefined) return told("stored");
  const store = async () => {
    try {
      const keeping = await keeper.changed(keptForm(channel));
      if (keeping !== "stored") {
        undo(channel, before);
        // What was refused must not be stored later. A channel that has ended is stored no more.
        if (channels.get(channel.foldedName) === channel) keeper.changed(keptForm(channel));
      }
      told(keeping);
    } finally {
      channel.changing = null;
    }
  };
  const stored = store();
  channel.changing = stored.catch(() => {});
  return stored;
}

/** Gives a channel its former settings, except for the modes of a closed channel. */
function undo(channel: Channel, before: ChannelSettings): void {
  const closed = channel.flags & CLOSED_FLAGS;
  const isAsBefore = channel.isClosed === before.isClosed;
  channel.restore(before);
  if (!isAsBefore) channel.flags = (channel.flags & ~CLOSED_FLAGS) | closed;
}

/** Tells a client that its change was not made. */
export function refuseChange(
  { command, reply }: RefusedCommand,
  channel: Channel,
  keeping: Exclude<Keeping, "stored">,
): void {
  const { code, text } = REFUSALS[keeping];
  reply.fail(command, code, [channel.name], text);
}

/**
 * Reports that a client has joined an unregistered channel or left it, if that changes what is
 * stored.
 *
 * @param founder the founder before that
 */
export function noteMember(
  state: Pick<KeepingServer, "options" | "isStopping">,
  channel: Channel,
  { privileged }: Pick<Client, "privileged">,
  founder: string | null,
): void {
  if (channel.isKept || privileged || state.isStopping) return;
  const isBack = channel.isAwaited && channel.members.size > 0;
  channel.isAwaited = channel.isAwaited && !isBack;
  if (isBack || channel.isConfined || channel.founder !== founder) noteChange(state, channel);
}
