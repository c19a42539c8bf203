/** The known LLM providers, and the definition of a backend. */
export { definitionProblem } from "./definition.ts";
export { KNOWN_PROVIDERS, type Provider, type ProviderApi, providerOf } from "./providers.ts";
export type { BackendChange, BackendDefinition, BackendRequest } from "./schemas.ts";
export { keyVariableProblem } from "./key_variables.ts";
