/** The entry of Codex: a table in `config.toml`. */
import type { TomlTable } from "smol-toml";
import { environmentOf, type Launch, TOKEN_VARIABLE } from "./entry.ts";
import { isObject } from "./json_text.ts";
import { readTable, setTable } from "./toml_text.ts";

const PARENT = "mcp_servers";

/** The keys of an entry that muster writes. All others are the person's own. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  "command",
  "args",
  "env",
  "env_vars",
  "url",
  "bearer_token_env_var",
  "http_headers",
  "env_http_headers",
]);

/** The table of a launch. */
export function codexEntry(launch: Launch): TomlTable {
  if (launch.kind === "http") return { url: launch.url, bearer_token_env_var: TOKEN_VARIABLE };
  return {
    command: launch.command,
    args: [...launch.args],
    ...launch.token.kind === "environment" ? { env_vars: [TOKEN_VARIABLE] } : {},
    env: environmentOf(launch, null),
  };
}

/** Writes the table into a text; keeps the keys of an older one that are not muster's. */
export function addCodexEntry(name: string, launch: Launch) {
  return (text: string): string => {
    const older = readTable(text, [PARENT, name]) ?? {};
    const entry = codexEntry(launch);
    const others = Object.entries(older).filter(([key]) => !OWN_KEYS.has(key));
    const { env, ...rest } = entry;
    const kept = isObject(older["env"]) && isObject(env)
      ? Object.entries(older["env"]).filter(([key]) => !key.startsWith("MUSTER_"))
      : [];
    return setTable(text, [PARENT, name], {
      ...rest,
      ...Object.fromEntries(others),
      ...isObject(env) ? { env: { ...Object.fromEntries(kept), ...env } } : {},
    } as TomlTable);
  };
}

/** Removes the table and its subtables. */
export function removeCodexEntry(name: string) {
  return (text: string): string => setTable(text, [PARENT, name], undefined);
}
