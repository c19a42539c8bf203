/** The known LLM providers, and the definition of a backend. */
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
