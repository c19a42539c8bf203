/**
 * A store for history beyond memory. The server declares the interface; the program implements it.
 */

/** Names a log: that of a channel, or of an account's conversation with a nick. */
export interface HistoryTarget {
  /** The account, folded; null for a channel. */
  readonly account: string | null;
  /** Name of the channel, or the nick; folded. */
  readonly name: string;
}

/** The kind of a record. The order of the numbers decides which readers see it. */
export const HistoryKind = {
  /** Somebody said it: for everybody. */
  MESSAGE: 0,
  /** It happened, such as a JOIN: for clients with `draft/event-playback`. */
  EVENT: 1,
  /** A REDACT: for those of them that know it. */
  REDACTION: 2,
  /** It holds the place of a message that was redacted: for nobody. */
  REMOVED: 3,
} as const;

/** A value of {@linkcode HistoryKind}. */
export type HistoryKind = typeof HistoryKind[keyof typeof HistoryKind];

/** Something that was said or that happened, in a form that the store need not understand. */
export interface HistoryRecord {
  /** Its `msgid`; empty if it has none. No two records of a log have the same. */
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly time: number;
  readonly kind: HistoryKind;
  readonly content: string;
}

/** A record on its way to the store. */
export interface NewHistoryRecord extends HistoryRecord {
  readonly target: HistoryTarget;
  /** Name of the channel, or the nick, as it was written. */
  readonly title: string;
  /** Whether the channel admits only some: see {@linkcode HistoryStore.forgetConfined}. */
  readonly confined: boolean;
}

/** A place in a log. */
export type HistoryReference = { readonly id: string } | { readonly time: number };

/** Which part of a log: the subcommands of CHATHISTORY. What a reference names is not in it. */
export type HistoryPart =
  | { readonly kind: "latest"; readonly since: HistoryReference | null }
  | { readonly kind: "before" | "after"; readonly reference: HistoryReference }
  /** The reference itself included. */
  | { readonly kind: "around"; readonly reference: HistoryReference }
  /** Counted from the first reference, which may be the later one. */
  | {
    readonly kind: "between";
    readonly first: HistoryReference;
    readonly second: HistoryReference;
  };

export interface HistoryQuery {
  readonly part: HistoryPart;
  readonly limit: number;
  /** The last kind that is shown. */
  readonly upTo: HistoryKind;
}

/** A log and its last message. */
export interface LastMessage {
  /** Name of the channel, or the nick, as it was last written. */
  readonly title: string;
  /** Unix time in milliseconds. */
  readonly time: number;
}

/**
 * Keeps what was said, in the order in which it is told. What changes it returns at once and never
 * throws: chat continues if the store fails. Methods that read reject if the store cannot answer. A
 * read sees all changes that were asked for before it.
 */
export interface HistoryStore {
  /** Unix time in milliseconds of the newest record when the store was opened; 0 without one. */
  readonly newestTime: number;

  append(record: NewHistoryRecord): void;

  /**
   * Removes what a message said from every log that has it. Its place stays, so that a reference to
   * it has a meaning.
   */
  redact(id: string): void;

  /**
   * Forgets what was said in a channel while it admitted only some users. Somebody else may open the
   * channel next.
   */
  forgetConfined(target: HistoryTarget): void;

  /** Forgets all logs of an account, folded. */
  forgetAccount(account: string): void;

  /** Moves the log of a channel to its new name. */
  rename(from: HistoryTarget, to: HistoryTarget, title: string): void;

  /** The places of the records of a part of a log, in the order of the log. */
  select(target: HistoryTarget, query: HistoryQuery): Promise<readonly number[]>;

  /** The records at these places; those that are gone by now are left out. */
  fetch(places: readonly number[]): Promise<readonly HistoryRecord[]>;

  /** The last messages, between two times (exclusive), of channels and of an account's logs. */
  lastMessages(
    channels: readonly string[],
    account: string | null,
    between: readonly [number, number],
  ): Promise<readonly LastMessage[]>;
}
