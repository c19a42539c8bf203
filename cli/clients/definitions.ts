/** The clients that muster can set up: where their files are, and how they write an entry. */
import { join } from "node:path";
import type { Client, Scope, Surroundings } from "./client.ts";
import { allowInCodex, CODEX_ENTRIES } from "./codex_entries.ts";
import { COPILOT_PERMISSIONS } from "./copilot_permissions.ts";
import { geminiPolicy, withoutGeminiPolicy } from "./gemini_policy.ts";
import { claudeGateway, codexGateway } from "./gateway.ts";
import { GOOSE } from "./goose.ts";
import { entryIn, inJson } from "./json_entries.ts";
import { OPENCODE } from "./opencode.ts";
import {
  addToLists,
  ALLOWED_TOOLS,
  ASKED_TOOLS,
  type ListEntries,
  removeFromLists,
} from "./permissions.ts";

/** A reference as POSIX shells write it. */
const inBraces = (variable: string) => `\${${variable}}`;

/** The events of Claude Code, which others took over. */
const CLAUDE_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PostToolUse",
  "PostToolUseFailure",
  "Stop",
];

/** Claude Code: https://code.claude.com/docs/en/mcp, /hooks and /permissions */
const CLAUDE: Client = {
  title: "Claude Code",
  file: (scope, { home, folder, environment }) =>
    scope === "project"
      ? join(folder, ".mcp.json")
      : join(environment["CLAUDE_CONFIG_DIR"] ?? home, ".claude.json"),
  ...inJson({
    parent: "mcpServers",
    entry: entryIn({ stdio: "stdio", http: "http", reference: inBraces }),
  }),
  hooks: {
    file: claudeSettings,
    events: CLAUDE_EVENTS,
    timeout: 5,
    waiting: {
      event: "Stop",
      // The hook ends by itself after eight hours.
      timeout: 8 * 60 * 60 + 60,
      // Without "async", a client without a terminal would wait for the hook.
      also: { async: true, asyncRewake: true },
    },
  },
  permissions: {
    file: claudeSettings,
    allow: (name) => addToLists(permissionRules(name)),
    withdraw: (name) => removeFromLists(permissionRules(name)),
  },
  gateway: claudeGateway((surroundings) => claudeSettings("user", surroundings)),
  searchesTools: true,
};

/** Codex: https://developers.openai.com/codex/config-reference and /codex/hooks */
const CODEX: Client = {
  title: "Codex",
  file: (scope, surroundings) => join(codexFolder(scope, surroundings), "config.toml"),
  ...CODEX_ENTRIES,
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
  gateway: codexGateway((surroundings) => join(codexFolder("user", surroundings), "config.toml")),
};

/** Gemini CLI: https://geminicli.com/docs/tools/mcp-server, /hooks/reference, /reference/policy-engine */
const GEMINI: Client = {
  title: "Gemini CLI",
  file: geminiFile,
  ...inJson({ parent: "mcpServers", entry: entryIn({ http: "http", reference: inBraces }) }),
  hooks: {
    file: geminiFile,
    events: ["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent"],
    timeout: 5000,
  },
  permissions: {
    // It does not load those of a project without a question.
    file: (scope, { home }, name) =>
      scope === "project"
        ? null
        : join(home, ".gemini", "policies", `${name.replaceAll(/[^\w-]/g, "_")}.toml`),
    allow: geminiPolicy,
    withdraw: withoutGeminiPolicy,
  },
};

/** Cursor: https://cursor.com/docs/mcp and /docs/reference/permissions */
const CURSOR: Client = {
  title: "Cursor",
  file: (scope, { home, folder }) =>
    join(scope === "project" ? folder : home, ".cursor", "mcp.json"),
  ...inJson({
    parent: "mcpServers",
    entry: entryIn({ stdio: "stdio", reference: (variable) => `\${env:${variable}}` }),
  }),
  hooks: null,
  permissions: {
    file: (scope, { home, folder }) =>
      join(scope === "project" ? folder : home, ".cursor", "permissions.json"),
    allow: (name) => addToLists(cursorRules(name)),
    withdraw: (name) => removeFromLists(cursorRules(name)),
    note: () =>
      "Cursor now takes its list of tools that need no question from permissions.json, not from " +
      "its settings",
  },
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
    entry: entryIn({ stdio: "stdio", http: "http", reference: () => "${input:muster-token}" }),
    input: {
      type: "promptString",
      id: "muster-token",
      description: "The muster token of your agent",
      password: true,
    },
  }),
  hooks: null,
  permissions: "Visual Studio Code has no file for permissions: allow each tool in its dialog",
};

/** GitHub Copilot CLI: https://docs.github.com/en/copilot/reference/copilot-cli-reference */
const COPILOT: Client = {
  title: "Copilot CLI",
  file: (scope, surroundings) =>
    scope === "project"
      ? join(surroundings.folder, ".github", "mcp.json")
      : join(copilotFolder(surroundings), "mcp-config.json"),
  ...inJson({
    parent: "mcpServers",
    entry: entryIn({
      stdio: "local",
      http: "http",
      reference: inBraces,
      also: { tools: ["*"] },
    }),
  }),
  hooks: {
    file: (scope, surroundings) =>
      scope === "project"
        ? join(surroundings.folder, ".github", "copilot", "settings.json")
        : join(copilotFolder(surroundings), "settings.json"),
    events: CLAUDE_EVENTS,
    timeout: 5,
    isFlat: true,
  },
  permissions: {
    file: (scope, surroundings) =>
      scope === "project" ? null : join(copilotFolder(surroundings), "permissions-config.json"),
    ...COPILOT_PERMISSIONS,
  },
};

/** Qwen Code: https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp and /configuration/settings */
const QWEN: Client = {
  title: "Qwen Code",
  file: qwenSettings,
  ...inJson({
    parent: "mcpServers",
    entry: entryIn({ url: "httpUrl", reference: inBraces }),
  }),
  hooks: { file: qwenSettings, events: CLAUDE_EVENTS, timeout: 5 },
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
  opencode: OPENCODE,
  copilot: COPILOT,
  qwen: QWEN,
  goose: GOOSE,
};

/** The client of this name, one of `CLIENT_NAMES`. */
export function clientOf(name: string): Client {
  const client = Object.entries(CLIENTS).find(([one]) => one === name)?.[1];
  if (client === undefined) throw new TypeError(`There is no client "${name}"`);
  return client;
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

/** Cursor asks for every tool that its list does not name. */
function cursorRules(name: string): readonly ListEntries[] {
  return [{ path: ["mcpAllowlist"], entries: ALLOWED_TOOLS.map((tool) => `${name}:${tool}`) }];
}

function copilotFolder({ home, environment }: Surroundings): string {
  return environment["COPILOT_HOME"] ?? join(home, ".copilot");
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
