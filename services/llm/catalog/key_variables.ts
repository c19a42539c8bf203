import { KNOWN_PROVIDERS } from "./providers.ts";

/** Variables that muster itself reads. No list allows them. */
const OWN = /^MUSTER_/i;

/** Beginnings of the variables of other programs and of the system. */
const OTHERS =
  /^(?:PG|MCP_|OTEL_|DENO_|NODE_|NPM_|GIT_|GITHUB_|GITLAB_|CI_|SSH_|GPG_|XDG_|DBUS_|LD_|DOCKER_|KUBE|VAULT_|POSTGRES|MYSQL_|MARIADB_|MONGO|REDIS|SMTP_|SYSTEMD_)/i;

/** Ends of the names of what is no key of a provider. */
const NO_KEY =
  /(?:^|_)(?:URL|URI|DSN|HEADERS?|PROXY|PATH|FILE|DIR|DIRECTORY|HOME|PASSWORD|PASSWD|PASS|PASSPHRASE|SOCKET|SOCK|REGION)$/i;

/** Other well-known variables; the rest of the keys of AWS is sent in no header. */
const NAMED: ReadonlySet<string> = new Set(
  "USER USERNAME USERPROFILE LOGNAME SHELL PWD OLDPWD TERM LANG HOSTNAME INIT_CWD NO_COLOR AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN"
    .split(" "),
);

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
  const isOther = OTHERS.test(name) || NO_KEY.test(name) || NAMED.has(name.toUpperCase());
  return isOther
    ? "must be the variable of a provider's key; if this one is, add it to llm.key_variables"
    : null;
}
