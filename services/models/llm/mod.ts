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
export type { Environment } from "./credentials.ts";
export {
  type Asking,
  type Completion,
  Gateway,
  type GatewayLimits,
  type GatewayOptions,
  type KnownModel,
} from "./gateway.ts";
export type {
  BackendChange,
  BackendDefinition,
  BackendRequest,
  CompletionRequest,
  ModelRequest,
} from "./schemas.ts";
export { type Llm, type LlmOptions, openLlm } from "./open.ts";
export type { FormatName } from "./formats/mod.ts";
export type { ServerEvent } from "./formats/format.ts";
export { type BackendStats, LATENCY_BOUNDS, type Outcome } from "./call.ts";
