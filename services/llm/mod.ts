/**
 * The LLM gateway: backends of models, and chat completions in one common format, which the gateway
 * translates for each provider.
 */
export {
  type Backend,
  Backends,
  type BackendsOptions,
  type DiscoveredBackend,
  type KnownProvider,
} from "./backends.ts";
export {
  type BackendChange,
  backendChangeSchema,
  type BackendDefinition,
  type BackendRequest,
  backendRequestSchema,
} from "./catalog/mod.ts";
export type { Environment } from "./credentials.ts";
export {
  type Completion,
  type CompletionRequest,
  completionRequestSchema,
  Gateway,
  type GatewayLimits,
  type GatewayOptions,
  type KnownModel,
} from "./gateway.ts";
export { type Llm, type LlmOptions, openLlm } from "./open.ts";
export { type BackendStats, LATENCY_BOUNDS, type Outcome } from "./stats.ts";
