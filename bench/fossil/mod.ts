/** The Fossil engine against the `fossil` program. */
import type { Scenario } from "../scenario.ts";
import { COMMITS_OF_ONE } from "./commits.ts";
import { IMPORT_MEMORY } from "./memory.ts";
import { READS } from "./reads.ts";
import { RESPONSIVENESS } from "./responsiveness.ts";
import { WHOLE } from "./whole.ts";

export const FOSSIL_SCENARIOS: readonly Scenario[] = [
  READS,
  COMMITS_OF_ONE,
  WHOLE,
  IMPORT_MEMORY,
  RESPONSIVENESS,
];
