/** All scenarios, in the order in which they run. */
import { BEFORE, CLUSTER } from "../cluster/mod.ts";
import { FOSSIL_SCENARIOS } from "../fossil/mod.ts";
import {
  BESIDE,
  BESIDE_WRITERS,
  GIT,
  GIT_LARGE,
  HOSTING,
  HOSTING_LARGE,
  PAGES,
  SYNC,
} from "../hosting/mod.ts";
import { ADMIN_LOGINS } from "./admin_logins.ts";
import { FANOUT, LATENCY, PLAIN_FANOUT, SMALL_FANOUT } from "./channel_messages.ts";
import { GUARDED_FANOUT } from "./guarded_fanout.ts";
import { IDLE_INBOXES } from "./idle_inboxes.ts";
import { IDLE, JOIN, LOGIN } from "./membership.ts";
import { LARGE_LISTS } from "./large_lists.ts";
import { MCP_CALLS } from "./mcp_calls.ts";
import { PAGE_STREAMS } from "./page_streams.ts";
import type { Scenario } from "../scenario.ts";
import { START } from "./start.ts";
import { STRANGERS } from "./strangers.ts";
import { STREAMS } from "./streams.ts";

export type { Figure, PeerValue, Scenario, Sizes } from "../scenario.ts";

export const SCENARIOS: readonly Scenario[] = [
  FANOUT,
  SMALL_FANOUT,
  PLAIN_FANOUT,
  GUARDED_FANOUT,
  LATENCY,
  LOGIN,
  JOIN,
  IDLE,
  STREAMS,
  PAGE_STREAMS,
  IDLE_INBOXES,
  LARGE_LISTS,
  ADMIN_LOGINS,
  MCP_CALLS,
  STRANGERS,
  START,
  ...FOSSIL_SCENARIOS,
  HOSTING,
  BESIDE_WRITERS,
  BESIDE,
  HOSTING_LARGE,
  PAGES,
  SYNC,
  GIT,
  GIT_LARGE,
  CLUSTER,
  BEFORE,
];
