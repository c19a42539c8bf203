import { isKnownProvider } from "./providers.ts";
import type { BackendDefinition } from "./schemas.ts";

/** What is wrong with a backend although each field is valid, or null. */
export function definitionProblem(
  { provider, base_url }: Pick<BackendDefinition, "provider" | "base_url">,
): string | null {
  if (base_url !== "" || isKnownProvider(provider)) return null;
  return `is required, because muster does not know the provider "${provider}"`;
}
