import { suggest } from "../../spelling/mod.ts";
import { isKnownProvider, KNOWN_PROVIDERS } from "./providers.ts";
import type { BackendDefinition } from "./schemas.ts";

/** What is wrong with a backend although each field is valid, or null. */
export function definitionProblem(
  { provider, base_url }: Pick<BackendDefinition, "provider" | "base_url">,
): string | null {
  if (base_url !== "" || isKnownProvider(provider)) return null;
  const meant = suggest(provider, KNOWN_PROVIDERS.map(({ name }) => name));
  const hint = meant === null ? "" : `; did you mean "${meant}"?`;
  return `is required, because muster does not know the provider "${provider}"${hint}`;
}
