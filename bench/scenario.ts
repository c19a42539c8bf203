import type { IrcServerKind } from "./servers/mod.ts";

/** How much is done in the scenarios. */
export interface Sizes {
  /** IRC clients in one channel. */
  readonly members: number;
  /** Members that send. */
  readonly senders: number;
  /** Messages of one round of a fan-out, of all senders together. */
  readonly messages: number;
  /** How often a measurement is repeated; its median counts. */
  readonly rounds: number;
  /** Registered agents that log in. */
  readonly agents: number;
  /** IRC clients that do nothing. */
  readonly idle: number;
  /** Readers of event streams on one channel. */
  readonly readers: number;
  /** Messages of one round to the event streams. */
  readonly events: number;
  /** Admins' logins at the same time, each from an address of its own. */
  readonly logins: number;
  /** Connections that strangers hold. */
  readonly strangers: number;
  /** How long strangers connect, in seconds. */
  readonly attack: number;
  /** Messages per second if latency is measured. */
  readonly rate: number;
  /** Length of one round of requests to muster and its peers, in seconds. */
  readonly seconds: number;
  /** Starts of the program. */
  readonly starts: number;
  /** File of the Fossil repository that is measured with. */
  readonly repository: string;
}

/** One measured value. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the project aims at: this or less. */
  readonly aim?: number;
  /** What others gave for the same. */
  readonly peers?: readonly PeerValue[];
}

/** What another program gave in muster's place. */
export interface PeerValue {
  readonly name: string;
  /** Not given if there is a problem. */
  readonly value?: number;
  /** Why there is no value. */
  readonly problem?: string;
}

/** Something that can be measured on its own, with servers that it starts and ends. */
export interface Scenario {
  readonly name: string;
  /** Whether it needs no more than IRC, so that other servers can be measured too. */
  readonly anyIrcServer: boolean;
  /** Why it cannot be measured here; null if it can. */
  obstacle?(sizes: Sizes): string | null;
  /** What is measured, in one line. */
  describe(sizes: Sizes): string;
  /** @throws Error if the server did not do what was asked of it */
  measure(sizes: Sizes, server: IrcServerKind): Promise<Figure[]>;
}
