/** The entry of Codex: a table in `config.toml`. */
import { stringify, type TomlTable } from "smol-toml";
import { type Client, environmentOf, type Launch, TOKEN_VARIABLE } from "./client.ts";
import { isObject, readTable, setTable } from "./config_text.ts";
import { ASKED_TOOLS } from "./permissions.ts";

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
function entryOf(launch: Launch): TomlTable {
  if (launch.kind === "http") return { url: launch.url, bearer_token_env_var: TOKEN_VARIABLE };
  return {
    command: launch.command,
    args: [...launch.args],
    ...launch.token.kind === "environment" ? { env_vars: [TOKEN_VARIABLE] } : {},
    env: environmentOf(launch, null),
  };
}

/** Writes the table into a text; keeps the keys of an older one that are not muster's. */
function addEntry(name: string, launch: Launch) {
  return (text: string): string => {
    const older = readTable(text, [PARENT, name]) ?? {};
    const entry = entryOf(launch);
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

/** Sets the approvals of an entry: of all its tools, and of those that a person approves. */
export function allowInCodex(name: string) {
  return (text: string): string => {
    const entry = readTable(text, [PARENT, name]) ?? {};
    const tools = isObject(entry["tools"]) ? entry["tools"] : {};
    const asked = ASKED_TOOLS.map((tool) => {
      const older = tools[tool];
      return [tool, { ...isObject(older) ? older : {}, approval_mode: "prompt" }];
    });
    return setTable(text, [PARENT, name], {
      ...entry,
      default_tools_approval_mode: "approve",
      tools: { ...tools, ...Object.fromEntries(asked) },
    } as TomlTable);
  };
}

/** Removes the table and its subtables. */
function removeEntry(name: string) {
  return (text: string): string => setTable(text, [PARENT, name], undefined);
}

/** How Codex takes entries. */
export const CODEX_ENTRIES: Pick<Client, "show" | "add" | "remove"> = {
  show: (name, launch) => stringify({ [PARENT]: { [name]: entryOf(launch) } }).trimEnd(),
  add: addEntry,
  remove: removeEntry,
};
