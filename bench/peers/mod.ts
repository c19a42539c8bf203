/** The rows that compare muster with its peers. */
import type { Scenario } from "../scenarios/mod.ts";
import { GITEA_ROW } from "./gitea.ts";
import { FOOTPRINT_ROWS } from "./footprint.ts";
import { MESSAGE_ROWS } from "./messages.ts";
import { REQUEST_ROWS } from "./requests.ts";

/** The name of all rows together. */
export const PEERS = "peers";

export const PEER_SCENARIOS: readonly Scenario[] = [
  ...REQUEST_ROWS,
  ...MESSAGE_ROWS,
  ...FOOTPRINT_ROWS,
  GITEA_ROW,
];
