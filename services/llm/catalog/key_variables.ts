import { KNOWN_PROVIDERS } from "./providers.ts";

/** Variables that muster itself reads. No list allows them. */
const OWN = /^MUSTER_/i;

/** Beginnings of the variables of other programs and of the system. */
const OTHERS =
  /^(?:PG|GH_|ACTIONS_|MCP_|OTEL_|DENO_|NODE_|NPM_|GIT_|GITHUB_|GITLAB_|CI_|SSH_|GPG_|XDG_|DBUS_|LD_|DOCKER_|KUBE|VAULT_|POSTGRES|MYSQL_|MARIADB_|MONGO|REDIS|SMTP_|SYSTEMD_)/i;

/** What the name of a provider's key has, with the account or the stage behind it. */
const KEY = /(?:^|_)(?:API)?(?:KEY|TOKEN)(?:_(?:[A-Z]{1,8}|\d{1,4}|ID))?$/i;

/** Parts of the names of other keys: those that sign, encrypt or open a door of another kind. */
const OTHER_KEY =
  /(?:^|_)(?:SECRET|PRIVATE|SIGNING|ENCRYPTION|MASTER|SESSION|COOKIE|DEPLOY|WEBHOOK|CSRF|JWT|BOT|BASE|FILE|PATH|URL|DIR)(?:_|$)/i;

const OF_PROVIDERS: ReadonlySet<string> = new Set(
  KNOWN_PROVIDERS.flatMap(({ variables }) => variables),
);

/**
 * Why a backend may not take its key from an environment variable; null if it may. The value goes to
 * whatever address the backend names, so it must be no other secret of this process.
 *
 * @param name "" means the provider's own variables
 * @param allowed the names that the operator allows beside those of known providers; if there are
 * none, every name that looks like that of a key
 */
export function keyVariableProblem(name: string, allowed: readonly string[]): string | null {
  if (OWN.test(name)) return "must not be one of muster's own variables";
  if (name === "" || OF_PROVIDERS.has(name) || allowed.includes(name)) return null;
  if (allowed.length > 0) return `must be a known provider's variable, or in llm.key_variables`;
  return KEY.test(name) && !OTHER_KEY.test(name) && !OTHERS.test(name)
    ? null
    : "must be the variable of a provider's key; if this one is, add it to llm.key_variables";
}
