/** The policy store: what the operator has decided for each bot, changed while the program runs. */
export { type BotSettings, type KnownBot } from "./bots.ts";
export { type Json, type JsonObject } from "./merge.ts";
export {
  Policies,
  type PoliciesOptions,
  type PolicyDocument,
  type PolicyListener,
} from "./policies.ts";
export { policiesSchema, policyPatchSchema } from "./schemas.ts";
export { policyWarnings } from "./warnings.ts";
