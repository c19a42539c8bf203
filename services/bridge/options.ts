/** What the bridge takes and gives, beside messages. */

import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Connect } from "./transport.ts";

export interface BridgeOptions {
  readonly nick: string;
  /** Channels that the bridge joins at the start and keeps; with or without `#`. */
  readonly channels: readonly string[];
  /** Messages kept per channel. */
  readonly bufferSize: number;
  readonly maxChannels: number;
  /** How long presence over HTTP lasts at present. */
  readonly webUserTtlMilliseconds: () => number;
  /** Opens a connection to the IRC server. */
  readonly connect: Connect;
  readonly log: Log;
  readonly scheduler?: Scheduler;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** Which messages of a channel a reader wants. */
export interface MessageQuery {
  /** 1 to the buffer's size, which is the default. */
  readonly limit?: number | undefined;
  /** Only what came after this timestamp, or after the message of this id. */
  readonly since?: string | undefined;
  /** How long to wait where there is nothing yet: 0 to 60. */
  readonly waitSeconds?: number | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
}

/** What is to be posted. */
export interface NewPost {
  /** Under whose name; the bridge's where it is absent and the caller is the operator. */
  readonly nick?: string | undefined;
  readonly text: string;
}

/** A channel as a list shows it. */
export interface ChannelSummary {
  readonly name: string;
  /** How many users it has. */
  readonly members: number;
  /** Empty where it has none. */
  readonly topic: string;
}

/** Figures since the start, and how things are at present. */
export interface BridgeStats {
  readonly channels: number;
  /** Messages that were taken into a log. */
  readonly received: number;
  /** Messages that IRC confirmed to have taken from us. */
  readonly posted: number;
  /** How often the connection was lost. */
  readonly disconnects: number;
  /** Readers that wait for a message. */
  readonly waiting: number;
  /** Followers that were cut because they fell behind. */
  readonly cut: number;
}

/** The end of a {@link Bridge.follow} that its reader holds. */
export interface Following {
  /** Ends it; the follower is not told. */
  close(): void;
  /** Ends it because the reader cannot keep up, which is counted. */
  cut(): void;
}
