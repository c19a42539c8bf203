/** A store for history beyond memory; the embedding program implements it. */

/** Identifies a log: of a channel, or of an account's conversation with a nick. */
export interface HistoryTarget {
  /** The account, folded; null for a channel. */
  readonly account: string | null;
  /** Name of the channel, or the nick; folded. */
  readonly name: string;
}

/** The kind of a record. The order of the numbers decides which readers see it. */
export const HistoryKind = {
  /** A message: for everybody. */
  MESSAGE: 0,
  /** An event such as a JOIN: for clients with `draft/event-playback`. */
  EVENT: 1,
  /** A REDACT: for those of them that also support redaction. */
  REDACTION: 2,
  /** The place of a redacted message: for nobody. */
  REMOVED: 3,
} as const;

/** A value of {@linkcode HistoryKind}. */
export type HistoryKind = typeof HistoryKind[keyof typeof HistoryKind];

/** A message or event, in a form that the store need not understand. */
export interface HistoryRecord {
  /** Its `msgid`, unique within a log; empty if it has none. */
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
  /** Whether the channel limits who may join or know of it: see {@linkcode HistoryStore.forgetConfined}. */
  readonly confined: boolean;
}

/** A place in a log. */
export type HistoryReference = { readonly id: string } | { readonly time: number };

/** A part of a log, as a subcommand of CHATHISTORY selects it, without the referenced messages. */
export type HistoryPart =
  | { readonly kind: "latest"; readonly since: HistoryReference | null }
  | { readonly kind: "before" | "after"; readonly reference: HistoryReference }
  /** Includes the referenced message. */
  | { readonly kind: "around"; readonly reference: HistoryReference }
  /** Starts at the first reference, which may be the later one. */
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
 * Stores records in the order of the calls. Methods that change it return at once and never throw.
 * Methods that read reject if the store cannot answer. A read sees all earlier changes.
 */
export interface HistoryStore {
  /** Unix time in milliseconds of the newest record when the store was opened; 0 without one. */
  readonly newestTime: number;

  /**
   * Stores the records of a message, before anybody gets it. Without records, it says whether it
   * takes some now.
   *
   * @returns false if the store does not take them: then it has none, and nobody may get the message
   */
  accept(records: readonly NewHistoryRecord[]): boolean;

  /** Stores the record of an event, which has happened whether or not the store takes it. */
  append(record: NewHistoryRecord): void;

  /**
   * Removes the content of a message from every log. Its place remains, so that references to it
   * still work.
   *
   * @returns false if the store does not take it
   */
  redact(id: string): boolean;

  /**
   * What those wait for who add more, while the store has more to write than it can: resolves once
   * there is room. Null if they need not wait.
   */
  room(): Promise<void> | null;

  /** Marks everything said in a channel as confined, because the channel ended sealed. */
  confine(target: HistoryTarget): void;

  /**
   * Forgets what was said in a channel while it was confined, because others may open the channel
   * next.
   */
  forgetConfined(target: HistoryTarget): void;

  /** Forgets all logs of an account, folded. */
  forgetAccount(account: string): void;

  /** Moves the log of a channel to its new name. */
  rename(from: HistoryTarget, to: HistoryTarget, title: string): void;

  /**
   * Whether it is known, without a read, that a log has no message that readers see.
   */
  isSilent(target: HistoryTarget): boolean;

  /** The places of the records of a part of a log, in the order of the log. */
  select(target: HistoryTarget, query: HistoryQuery): Promise<readonly number[]>;

  /** The records at these places, except those that are gone. */
  fetch(places: readonly number[]): Promise<readonly HistoryRecord[]>;

  /** The last messages, between two times (exclusive), of channels and of an account's logs. */
  lastMessages(
    channels: readonly string[],
    account: string | null,
    between: readonly [number, number],
  ): Promise<readonly LastMessage[]>;
}
