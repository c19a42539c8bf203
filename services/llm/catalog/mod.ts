/** What an LLM backend is: the providers that are known, and what is written of a backend. */
export {
  isKnownProvider,
  KNOWN_PROVIDERS,
  type Provider,
  type ProviderApi,
  providerOf,
} from "./providers.ts";
export {
  type BackendChange,
  backendChangeSchema,
  type BackendDefinition,
  type BackendRequest,
  backendRequestSchema,
  configuredBackendsSchema,
  definitionProblem,
} from "./schemas.ts";
