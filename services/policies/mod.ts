/**
 * The policy store: the operator's settings of each bot, which can change while the program runs.
 */
export type { BotSettings, KnownBot } from "./bots.ts";
export type { FieldKind, PolicyField } from "./fields.ts";
export { diffPatch, isObject, type Json, type JsonObject } from "./merge.ts";
export {
  Policies,
  type PoliciesOptions,
  type PolicyDocument,
  type PolicyListener,
} from "./policies.ts";
export { purposeOf, PURPOSES } from "./purposes.ts";
