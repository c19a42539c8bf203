import type { Agents, Halts } from "../services/agents/mod.ts";
import type { DirectMessages, InboxDoor } from "../services/inboxes/mod.ts";
import type { Bridge } from "../services/bridge/mod.ts";
import { Unavailable } from "../services/errors.ts";
import type { FreeSpace } from "../services/kernel/files.ts";
import type { Identity } from "../services/identity/mod.ts";
import type { Needs } from "../services/needs/mod.ts";
import type { Questions } from "../services/questions/mod.ts";
import type { Status } from "../services/metrics/mod.ts";

/** The services behind the coordination tools. */
export interface CoordinationServices {
  readonly status: Pick<Status, "read">;
  readonly identity: Pick<Identity, "onEnded">;
  readonly agents: Pick<Agents, "register" | "counts"> & {
    readonly halts: Pick<Halts, "requireGoing">;
  };
  readonly space: Pick<FreeSpace, "require">;
  readonly inboxes: Pick<InboxDoor, "read" | "seen" | "reaches" | "acknowledge">;
  readonly directMessages: Pick<DirectMessages, "send" | "fate">;
  /** Absent: there are no tools for questions and needs. */
  readonly questions?: Questions;
  readonly needs?: Needs;
  /** Null if the configuration turns the bridge off. */
  readonly bridge:
    | Pick<Bridge, "nick" | "whenReady" | "summaries" | "messages" | "post" | "users">
    | null;
  /** The number of messages kept per channel. */
  readonly bufferSize: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * The bridge, if it is turned on.
 *
 * @throws Unavailable
 */
export function running<Part>(bridge: Part | null): Part {
  if (bridge !== null) return bridge;
  throw new Unavailable("The bridge is turned off in the configuration (bridge.enabled)");
}
