/** The rows that muster is measured in beside the programs it is compared with. */
import type { Scenario } from "../scenarios/mod.ts";
import { FOOTPRINT_ROWS } from "./footprint.ts";
import { MESSAGE_ROWS } from "./messages.ts";
import { REQUEST_ROWS } from "./requests.ts";

/** Names all rows at once. */
export const PEERS = "peers";

export const PEER_SCENARIOS: readonly Scenario[] = [
  ...REQUEST_ROWS,
  ...MESSAGE_ROWS,
  ...FOOTPRINT_ROWS,
];
