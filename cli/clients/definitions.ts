/** The clients that muster can set up: where their files are, and how they write an entry. */
import { join } from "node:path";
import { stringify } from "smol-toml";
import { addCodexEntry, codexEntry, removeCodexEntry } from "./codex_entry.ts";
import type { Launch } from "./entry.ts";
import { addJsonEntry, jsonEntry, type JsonForm, removeJsonEntry } from "./json_client.ts";

export const CLIENT_NAMES = Object.freeze(["claude", "codex", "gemini", "cursor", "vscode"]);

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
}

/** The hooks of a client. */
export interface ClientHooks {
  readonly file: (scope: Scope, surroundings: Surroundings) => string;
  /** The events at which muster shows the inbox. */
  readonly events: readonly string[];
  /** The longest run that the client allows, in its own unit. */
  readonly timeout: number;
}

/** Claude Code: https://code.claude.com/docs/en/mcp and /hooks */
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
    file: (scope, { home, folder, environment }) =>
      scope === "project"
        ? join(folder, ".claude", "settings.json")
        : join(environment["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude"), "settings.json"),
    events: ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"],
    timeout: 5,
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
};

const CLIENTS = { claude: CLAUDE, codex: CODEX, gemini: GEMINI, cursor: CURSOR, vscode: VSCODE };

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

function codexFolder(scope: Scope, { home, folder, environment }: Surroundings): string {
  if (scope === "project") return join(folder, ".codex");
  return environment["CODEX_HOME"] ?? join(home, ".codex");
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
