/**
 * The policy store: the operator's settings of each bot, which can change while the program runs.
 */
export type { BotSettings, FieldKind, PolicyField } from "./schemas.ts";
export {
  Policies,
  type PoliciesOptions,
  type PolicyDocument,
  type PolicyListener,
} from "./policies.ts";
export { NO_POLICIES } from "./policies.ts";
export { type KnownBot, purposeOf, PURPOSES } from "./known_bots.ts";
export { diffPatch, isObject, type Json, type JsonObject } from "./merge_patch.ts";
