import type { IrcServerKind } from "./servers/mod.ts";

/** The sizes of the scenarios. */
export interface Sizes {
  /** IRC clients in one channel. */
  readonly members: number;
  /** Members that send. */
  readonly senders: number;
  /** Messages of one round of a fan-out, of all senders together. */
  readonly messages: number;
  /** Repetitions of a measurement; their median counts. */
  readonly rounds: number;
  /** Registered agents that log in. */
  readonly agents: number;
  /** IRC clients that do nothing. */
  readonly idle: number;
  /** Readers of event streams on one channel. */
  readonly readers: number;
  /** Agents that wait on their inboxes. */
  readonly waiting: number;
  /** Messages of one round to the event streams. */
  readonly events: number;
  /** Admins' logins at the same time, each from a separate address. */
  readonly logins: number;
  /** Connections that strangers hold. */
  readonly strangers: number;
  /** Time for which strangers connect, in seconds. */
  readonly attack: number;
  /** Messages per second when latency is measured. */
  readonly rate: number;
  /** Length of one round of requests to muster and its peers, in seconds. */
  readonly seconds: number;
  /** Starts of the program. */
  readonly starts: number;
  /** The Fossil repository file to measure with. */
  readonly repository: string;
}

/** One measured value. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The project's aim: this value or less. */
  readonly aim?: number;
  /** The values of peers. */
  readonly peers?: readonly PeerValue[];
}

/** The value of a peer. */
export interface PeerValue {
  readonly name: string;
  /** Absent if there is a problem. */
  readonly value?: number;
  /** Why there is no value. */
  readonly problem?: string;
}

/** A separate measurement, which starts and ends its own servers. */
export interface Scenario {
  readonly name: string;
  /** Whether it needs only IRC, so that other servers can be measured too. */
  readonly anyIrcServer: boolean;
  /** Why it cannot be measured here; null if it can. */
  obstacle?(sizes: Sizes): string | null;
  /** Describes the measurement in one line. */
  describe(sizes: Sizes): string;
  /** @throws Error if the server did not do what it should */
  measure(sizes: Sizes, server: IrcServerKind): Promise<Figure[]>;
}
