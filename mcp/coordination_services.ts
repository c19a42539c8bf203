import type { Agents } from "../services/agents/mod.ts";
import type { DirectMessages, Inboxes } from "../services/inboxes/mod.ts";
import type { Bridge } from "../services/bridge/mod.ts";
import { Unavailable } from "../services/errors.ts";
import type { Identity } from "../services/identity/mod.ts";
import type { Status } from "../services/metrics/mod.ts";

/** What the tools of the coordination service act on. */
export interface CoordinationServices {
  readonly status: Pick<Status, "read">;
  readonly identity: Pick<Identity, "onEnded">;
  readonly agents: Pick<Agents, "register" | "counts">;
  readonly inboxes: Pick<Inboxes, "read" | "reaches">;
  readonly directMessages: Pick<DirectMessages, "send">;
  /** Null where the configuration turns the bridge off. */
  readonly bridge:
    | Pick<Bridge, "nick" | "whenReady" | "summaries" | "messages" | "post" | "users">
    | null;
  /** How many messages of a channel are kept. */
  readonly bufferSize: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * The bridge, where there is one.
 *
 * @throws Unavailable
 */
export function running<Part>(bridge: Part | null): Part {
  if (bridge !== null) return bridge;
  throw new Unavailable("The bridge is turned off in the configuration (bridge.enabled)");
}
