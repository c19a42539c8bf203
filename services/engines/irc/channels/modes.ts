/**
 * Modes of channels and users. To add a mode, add an entry to one of these tables. If it forbids
 * something, also add the check to that command.
 */

/** The kind of a channel mode: the four kinds of `CHANMODES`, and the statuses of `PREFIX`. */
export type ChannelModeKind = "list" | "key" | "setting" | "flag" | "status";

export interface ChannelMode {
  readonly letter: string;
  readonly kind: ChannelModeKind;
  /** The bit of a flag or status in the set of the channel or member. */
  readonly bit: number;
}

export const ChannelFlag = {
  INVITE_ONLY: 1 << 0,
  MODERATED: 1 << 1,
  NO_EXTERNAL: 1 << 2,
  SECRET: 1 << 3,
  TOPIC_BY_OPERATORS: 1 << 4,
  NO_CTCP: 1 << 5,
} as const;

export const MemberStatus = {
  VOICE: 1 << 0,
  OPERATOR: 1 << 1,
} as const;

/** From the highest status to the lowest, with the prefix of a nick in NAMES. */
export const STATUSES = [
  { letter: "o", prefix: "@", bit: MemberStatus.OPERATOR },
  { letter: "v", prefix: "+", bit: MemberStatus.VOICE },
] as const;

export const CHANNEL_MODES: ReadonlyMap<string, ChannelMode> = new Map(
  ([
    ["b", "list", 0],
    ["e", "list", 0],
    ["I", "list", 0],
    ["k", "key", 0],
    ["l", "setting", 0],
    ["C", "flag", ChannelFlag.NO_CTCP],
    ["i", "flag", ChannelFlag.INVITE_ONLY],
    ["m", "flag", ChannelFlag.MODERATED],
    ["n", "flag", ChannelFlag.NO_EXTERNAL],
    ["s", "flag", ChannelFlag.SECRET],
    ["t", "flag", ChannelFlag.TOPIC_BY_OPERATORS],
    ["o", "status", MemberStatus.OPERATOR],
    ["v", "status", MemberStatus.VOICE],
  ] as const).map(([letter, kind, bit]) => [letter, { letter, kind, bit }]),
);

/** The modes of a closed channel, which nobody can remove. */
export const CLOSED_FLAGS = ChannelFlag.INVITE_ONLY | ChannelFlag.SECRET;

/** Modes that a new channel has. */
export const NEW_CHANNEL_FLAGS = ChannelFlag.NO_EXTERNAL | ChannelFlag.TOPIC_BY_OPERATORS;

export const UserMode = {
  BOT: 1 << 0,
  INVISIBLE: 1 << 1,
  OPERATOR: 1 << 2,
  WALLOPS: 1 << 3,
} as const;

/** `settable`: whether users may set it on themselves; they can remove every mode. */
export const USER_MODES: ReadonlyMap<string, { bit: number; settable: boolean }> = new Map([
  ["B", { bit: UserMode.BOT, settable: true }],
  ["i", { bit: UserMode.INVISIBLE, settable: true }],
  ["o", { bit: UserMode.OPERATOR, settable: false }],
  ["w", { bit: UserMode.WALLOPS, settable: true }],
]);

/** Changes that one MODE command may make to modes with a parameter; announced as `MODES`. */
export const MODES_PER_COMMAND = 20;

/** One change of a mode. A list mode without a parameter asks for the list. */
export interface ModeChange {
  readonly add: boolean;
  readonly letter: string;
  readonly param: string | null;
}

/** Whether a channel mode of this kind takes a parameter when it is set or removed. */
export function takesParameter(kind: ChannelModeKind, add: boolean): boolean {
  return kind !== "flag" && (kind !== "setting" || add);
}

/** Parses `+ov-l alice bob`. Unknown letters have no parameter; a missing parameter is null. */
export function parseChannelModes(params: readonly string[]): ModeChange[] {
  let next = 1;
  return signedLetters(params[0] ?? "").map(({ add, letter }) => {
    const mode = CHANNEL_MODES.get(letter);
    const param = mode && takesParameter(mode.kind, add) ? params[next++] ?? null : null;
    return { add, letter, param };
  });
}

/** Parses changes of a user's modes, known or not. */
export function parseUserModes(text: string): ModeChange[] {
  return signedLetters(text).map(({ add, letter }) => ({ add, letter, param: null }));
}

function signedLetters(text: string): { add: boolean; letter: string }[] {
  const letters: { add: boolean; letter: string }[] = [];
  let add = true;
  for (const letter of text) {
    if (letter === "+" || letter === "-") add = letter === "+";
    else letters.push({ add, letter });
  }
  return letters;
}

/** Formats changes as the parameters of MODE. The inverse of {@linkcode parseChannelModes}. */
export function formatModes(changes: readonly ModeChange[]): string[] {
  let letters = "";
  let sign: boolean | null = null;
  const params: string[] = [];
  for (const { add, letter, param } of changes) {
    if (add !== sign) letters += add ? "+" : "-";
    sign = add;
    letters += letter;
    if (param !== null) params.push(param);
  }
  return [letters, ...params];
}

/** The letters of all modes of these kinds, in the order of the table. */
export function channelModeLetters(...kinds: ChannelModeKind[]): string {
  let letters = "";
  for (const mode of CHANNEL_MODES.values()) if (kinds.includes(mode.kind)) letters += mode.letter;
  return letters;
}

/** The prefix of a member's nick: the highest one, or all with `multi-prefix`. */
export function statusPrefix(status: number, all: boolean): string {
  let prefix = "";
  for (const { prefix: sign, bit } of STATUSES) {
    if (status & bit) {
      prefix += sign;
      if (!all) break;
    }
  }
  return prefix;
}

/** The user modes that are set, such as `+Bi`. */
export function formatUserModes(modes: number): string {
  let text = "+";
  for (const [letter, { bit }] of USER_MODES) if (modes & bit) text += letter;
  return text;
}
