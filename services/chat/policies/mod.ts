/**
 * The policy store: the operator's settings of each bot, which can change while the program runs.
 */
export type { BotSettings, FieldKind, KnownBot, PolicyField } from "./schemas.ts";
export {
  diffPatch,
  isObject,
  type Json,
  type JsonObject,
  Policies,
  type PoliciesOptions,
  type PolicyDocument,
  type PolicyListener,
  purposeOf,
  PURPOSES,
} from "./policies.ts";
export { NO_POLICIES } from "./policies.ts";
