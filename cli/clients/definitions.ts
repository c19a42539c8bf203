/** The clients that muster can set up: where their files are, and how they write an entry. */
import { join } from "node:path";
import { stringify, type TomlTable } from "smol-toml";
import {
  isObject,
  type JsonObject,
  parseJson,
  readTable,
  setJson,
  setTable,
  valueAt,
} from "./config_text.ts";
import { addToLists, ASKED_TOOLS, type ListEntries, removeFromLists } from "./permissions.ts";

export const CLIENT_NAMES = Object.freeze([
  "claude",
  "codex",
  "gemini",
  "cursor",
  "vscode",
  "qwen",
]);

/** One person on this machine, or everybody who works in a project's folder. */
export type Scope = "user" | "project";

/** The folders and the environment in which the files are looked for. */
export interface Surroundings {
  readonly home: string;
  /** The project's folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly system: typeof Deno.build.os;
}

/** A client of MCP. */
export interface Client {
  /** Its name in sentences. */
  readonly title: string;
  /** The file with its entries. */
  readonly file: (scope: Scope, surroundings: Surroundings) => string;
  /** The entry alone, as it stands in the file. */
  readonly show: (name: string, launch: Launch) => string;
  readonly add: (name: string, launch: Launch) => (text: string) => string;
  readonly remove: (name: string) => (text: string) => string;
  readonly hooks: ClientHooks | null;
  readonly permissions: ClientPermissions | null;
}

/** The hooks of a client. */
interface ClientHooks {
  readonly file: (scope: Scope, surroundings: Surroundings) => string;
  /** The events at which muster shows the inbox. */
  readonly events: readonly string[];
  /** The longest run that the client allows, in its own unit. */
  readonly timeout: number;
}

/** How a client is told to use an entry's tools without asking, but for {@link ASKED_TOOLS}. */
interface ClientPermissions {
  readonly file: (scope: Scope, surroundings: Surroundings) => string;
  readonly allow: (name: string) => (text: string) => string;
  /** What the removal of the entry leaves behind. */
  readonly withdraw: (name: string) => (text: string) => string;
}

/** Claude Code: https://code.claude.com/docs/en/mcp, /hooks and /permissions */
const CLAUDE: Client = {
  title: "Claude Code",
  file: (scope, { home, folder, environment }) =>
    scope === "project"
      ? join(folder, ".mcp.json")
      : join(environment["CLAUDE_CONFIG_DIR"] ?? home, ".claude.json"),
  ...inJson({
    parent: "mcpServers",
    stdio: "stdio",
    http: "http",
    reference: (variable) => `\${${variable}}`,
  }),
  hooks: {
    file: claudeSettings,
    events: ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"],
    timeout: 5,
  },
  permissions: {
    file: claudeSettings,
    allow: (name) => addToLists(permissionRules(name)),
    withdraw: (name) => removeFromLists(permissionRules(name)),
  },
};

/** Codex: https://developers.openai.com/codex/config-reference and /codex/hooks */
const CODEX: Client = {
  title: "Codex",
  file: (scope, surroundings) => join(codexFolder(scope, surroundings), "config.toml"),
  show: (name, launch) => stringify({ mcp_servers: { [name]: codexEntry(launch) } }).trimEnd(),
  add: addCodexEntry,
  remove: removeCodexEntry,
  hooks: {
    file: (scope, surroundings) => join(codexFolder(scope, surroundings), "hooks.json"),
    events: ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"],
    timeout: 5,
  },
  permissions: {
    file: (scope, surroundings) => join(codexFolder(scope, surroundings), "config.toml"),
    allow: allowInCodex,
    // They are in the table of the entry.
    withdraw: () => (text) => text,
  },
};

/** Gemini CLI: https://geminicli.com/docs/tools/mcp-server and /docs/hooks/reference */
const GEMINI: Client = {
  title: "Gemini CLI",
  file: geminiFile,
  ...inJson({ parent: "mcpServers", http: "http", reference: (variable) => `\${${variable}}` }),
  hooks: {
    file: geminiFile,
    events: ["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent"],
    timeout: 5000,
  },
  permissions: null,
};

/** Cursor: https://cursor.com/docs/mcp */
const CURSOR: Client = {
  title: "Cursor",
  file: (scope, { home, folder }) =>
    join(scope === "project" ? folder : home, ".cursor", "mcp.json"),
  ...inJson({
    parent: "mcpServers",
    stdio: "stdio",
    reference: (variable) => `\${env:${variable}}`,
  }),
  hooks: null,
  permissions: null,
};

/** Visual Studio Code: https://code.visualstudio.com/docs/copilot/reference/mcp-configuration */
const VSCODE: Client = {
  title: "Visual Studio Code",
  file: (scope, surroundings) =>
    scope === "project"
      ? join(surroundings.folder, ".vscode", "mcp.json")
      : join(codeFolder(surroundings), "Code", "User", "mcp.json"),
  ...inJson({
    parent: "servers",
    stdio: "stdio",
    http: "http",
    reference: () => "${input:muster-token}",
    input: {
      type: "promptString",
      id: "muster-token",
      description: "The muster token of your agent",
      password: true,
    },
  }),
  hooks: null,
  permissions: null,
};

/** Qwen Code: https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp and /configuration/settings */
const QWEN: Client = {
  title: "Qwen Code",
  file: qwenSettings,
  ...inJson({
    parent: "mcpServers",
    url: "httpUrl",
    reference: (variable) => `\${${variable}}`,
  }),
  hooks: null,
  permissions: {
    file: qwenSettings,
    allow: (name) => addToLists(permissionRules(name)),
    withdraw: (name) => removeFromLists(permissionRules(name)),
  },
};

const CLIENTS = {
  claude: CLAUDE,
  codex: CODEX,
  gemini: GEMINI,
  cursor: CURSOR,
  vscode: VSCODE,
  qwen: QWEN,
};

/** The client of this name, one of {@link CLIENT_NAMES}. */
export function clientOf(name: string): Client {
  const client = Object.entries(CLIENTS).find(([one]) => one === name)?.[1];
  if (client === undefined) throw new TypeError(`There is no client "${name}"`);
  return client;
}

function inJson(form: JsonForm): Pick<Client, "show" | "add" | "remove"> {
  return {
    show: (name, launch) =>
      JSON.stringify({ [form.parent]: { [name]: jsonEntry(form, launch) } }, null, 2),
    add: (name, launch) => addJsonEntry(form, name, launch),
    remove: (name) => removeJsonEntry(form, name),
  };
}

function claudeSettings(scope: Scope, { home, folder, environment }: Surroundings): string {
  return scope === "project"
    ? join(folder, ".claude", "settings.json")
    : join(environment["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude"), "settings.json");
}

/**
 * The rules of Claude Code and Qwen Code for an entry. A rule that asks wins over one that allows,
 * however exact they are.
 */
function permissionRules(name: string): readonly ListEntries[] {
  const server = `mcp__${name.replaceAll(/[^\w-]/g, "_")}`;
  return [
    { path: ["permissions", "allow"], entries: [server] },
    { path: ["permissions", "ask"], entries: ASKED_TOOLS.map((tool) => `${server}__${tool}`) },
  ];
}

function codexFolder(scope: Scope, { home, folder, environment }: Surroundings): string {
  if (scope === "project") return join(folder, ".codex");
  return environment["CODEX_HOME"] ?? join(home, ".codex");
}

function qwenSettings(scope: Scope, { home, folder }: Surroundings): string {
  return join(scope === "project" ? folder : home, ".qwen", "settings.json");
}

function geminiFile(scope: Scope, { home, folder }: Surroundings): string {
  return join(scope === "project" ? folder : home, ".gemini", "settings.json");
}

/** The folder in which programs of this system keep their configuration. */
function codeFolder({ home, environment, system }: Surroundings): string {
  if (system === "darwin") return join(home, "Library", "Application Support");
  if (system === "windows") return environment["APPDATA"] ?? join(home, "AppData", "Roaming");
  return environment["XDG_CONFIG_HOME"] ?? join(home, ".config");
}

/** The entry that connects a client to muster, before it takes the form of one client. */

/** The variable that holds an agent's token. */
export const TOKEN_VARIABLE = "MUSTER_TOKEN";

/** How the started program finds the agent's token. */
type TokenSource =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "environment" };

/** What a client is told: how to start muster, or where to find it. */
export type Launch =
  | {
    readonly kind: "stdio";
    readonly command: string;
    readonly args: readonly string[];
    /** The server's tools, which the program forwards to. */
    readonly url: string;
    readonly token: TokenSource;
  }
  | { readonly kind: "http"; readonly url: string };

/** How a client writes a value that it takes from somewhere else when it starts. */
type Reference = (variable: string) => string;

/**
 * The environment of the started program. It never contains a token: it names the file with the
 * token, or refers to a variable of the client's own environment.
 */
function environmentOf(
  { url, token }: Extract<Launch, { readonly kind: "stdio" }>,
  reference: Reference | null,
): Record<string, string> {
  if (token.kind === "file") return { MUSTER_URL: url, MUSTER_TOKEN_FILE: token.path };
  const passed = reference === null ? {} : { [TOKEN_VARIABLE]: reference(TOKEN_VARIABLE) };
  return { MUSTER_URL: url, ...passed };
}

/** The entry of Codex: a table in `config.toml`. */

const PARENT = "mcp_servers";

/** The keys of an entry that muster writes. All others are the person's own. */
const OWN_KEYS_OF_CODEX: ReadonlySet<string> = new Set([
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
function codexEntry(launch: Launch): TomlTable {
  if (launch.kind === "http") return { url: launch.url, bearer_token_env_var: TOKEN_VARIABLE };
  return {
    command: launch.command,
    args: [...launch.args],
    ...launch.token.kind === "environment" ? { env_vars: [TOKEN_VARIABLE] } : {},
    env: environmentOf(launch, null),
  };
}

/** Writes the table into a text; keeps the keys of an older one that are not muster's. */
function addCodexEntry(name: string, launch: Launch) {
  return (text: string): string => {
    const older = readTable(text, [PARENT, name]) ?? {};
    const entry = codexEntry(launch);
    const others = Object.entries(older).filter(([key]) => !OWN_KEYS_OF_CODEX.has(key));
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
function allowInCodex(name: string) {
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
function removeCodexEntry(name: string) {
  return (text: string): string => setTable(text, [PARENT, name], undefined);
}

/** Clients whose entry is a member of an object in a JSON file. */

/** How a client writes an entry. */
interface JsonForm {
  /** The object of all entries. */
  readonly parent: string;
  /** The value of `type` for a program; absent if the client writes none. */
  readonly stdio?: string;
  /** The key of a URL; `url` if absent. */
  readonly url?: string;
  /** The value of `type` for a URL; absent if the client writes none. */
  readonly http?: string;
  readonly reference: Reference;
  /** A question that the client asks for the token; the list of them is the key `inputs`. */
  readonly input?: JsonObject & { readonly id: string };
}

/** The keys of an entry that muster writes. All others are the person's own. */
const OWN_KEYS = ["type", "command", "args", "env", "url", "httpUrl", "headers", "envFile"];

/** The entry of a launch. */
function jsonEntry(form: JsonForm, launch: Launch): JsonObject {
  if (launch.kind === "http") {
    const headers = { Authorization: `Bearer ${form.reference(TOKEN_VARIABLE)}` };
    const type = form.http === undefined ? {} : { type: form.http };
    return { ...type, [form.url ?? "url"]: launch.url, headers };
  }
  return {
    ...form.stdio === undefined ? {} : { type: form.stdio },
    command: launch.command,
    args: launch.args,
    env: environmentOf(launch, form.reference),
  };
}

/** Writes the entry into a text; keeps the keys of an older entry that are not muster's. */
function addJsonEntry(form: JsonForm, name: string, launch: Launch) {
  return (text: string): string => {
    const place = [form.parent, name];
    const entry = jsonEntry(form, launch);
    const older = valueAt(parseJson(text), place);
    if (!isObject(older)) return addInput(form, setJson(text, place, entry), entry);
    const wanted = withOwnEnvironment(entry, older);
    const edited = OWN_KEYS.reduce(
      (changed, key) => setJson(changed, [...place, key], wanted[key]),
      text,
    );
    return addInput(form, edited, entry);
  };
}

/** Removes the entry, and the question for its token. */
function removeJsonEntry(form: JsonForm, name: string) {
  return (text: string): string => {
    if (valueAt(parseJson(text), [form.parent, name]) === undefined) return text;
    const without = setJson(text, [form.parent, name], undefined);
    const index = inputsOf(parseJson(without)).findIndex((one) => isInput(form, one));
    const isNeeded = JSON.stringify(valueAt(parseJson(without), [form.parent]))
      .includes(`\${input:${form.input?.id}}`);
    return index < 0 || isNeeded ? without : setJson(without, ["inputs", index], undefined);
  };
}

/** Keeps the variables of an older entry that are not muster's. */
function withOwnEnvironment(entry: JsonObject, older: JsonObject): JsonObject {
  const { env } = older;
  if (!isObject(entry["env"]) || !isObject(env)) return entry;
  const others = Object.entries(env).filter(([key]) => !key.startsWith("MUSTER_"));
  return { ...entry, env: { ...Object.fromEntries(others), ...entry["env"] } };
}

function addInput(form: JsonForm, text: string, entry: JsonObject): string {
  if (form.input === undefined || !JSON.stringify(entry).includes("${input:")) return text;
  if (inputsOf(parseJson(text)).some((one) => isInput(form, one))) return text;
  if (valueAt(parseJson(text), ["inputs"]) === undefined) {
    return setJson(text, ["inputs"], [form.input]);
  }
  return setJson(text, ["inputs", -1], form.input);
}

function inputsOf(tree: JsonObject): readonly unknown[] {
  const { inputs } = tree;
  return Array.isArray(inputs) ? inputs : [];
}

function isInput({ input }: JsonForm, value: unknown): boolean {
  return input !== undefined && isObject(value) && value["id"] === input.id;
}
