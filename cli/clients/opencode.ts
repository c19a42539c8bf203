/** opencode: https://opencode.ai/v1/docs/mcp-servers and /permissions */
import { join } from "node:path";
import { type Client, environmentOf, type Launch, TOKEN_VARIABLE } from "./client.ts";
import { isObject, type JsonObject, parseJson, setJson, valueAt } from "./config_text.ts";
import { inJson } from "./json_entries.ts";
import { ASKED_TOOLS } from "./permissions.ts";

const PERMISSION = "permission";

const file: Client["file"] = (scope, { home, folder, environment }) => {
  if (scope === "project") return join(folder, "opencode.json");
  return join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "opencode", "opencode.json");
};

const reference = (variable: string) => `{env:${variable}}`;

function entryOf(launch: Launch): JsonObject {
  if (launch.kind === "stdio") {
    const command = [launch.command, ...launch.args];
    return { type: "local", command, environment: environmentOf(launch, reference) };
  }
  const headers = { Authorization: `Bearer ${reference(TOKEN_VARIABLE)}` };
  return { type: "remote", url: launch.url, headers, oauth: false };
}

/** The rules of an entry, in their order: of those that match, the last one decides. */
function rulesOf(name: string): readonly (readonly [string, string])[] {
  const server = name.replaceAll(/[^\w-]/g, "_");
  return [
    [`${server}_*`, "allow"],
    ...ASKED_TOOLS.map((tool): [string, string] => [`${server}_${tool}`, "ask"]),
  ];
}

function allow(name: string) {
  return (text: string): string => {
    const rules = rulesOf(name);
    const ours = new Set(rules.map(([pattern]) => pattern));
    const present = Object.entries(permissionsIn(text)).filter(([pattern]) => ours.has(pattern));
    if (JSON.stringify(present) === JSON.stringify(rules)) return text;
    return rules.reduce(
      (edited, [pattern, decision]) => setJson(edited, [PERMISSION, pattern], decision),
      removeRules(text, ours),
    );
  };
}

function withdraw(name: string) {
  return (text: string): string => {
    const edited = removeRules(text, new Set(rulesOf(name).map(([pattern]) => pattern)));
    const isEmptied = edited !== text && Object.keys(permissionsIn(edited)).length === 0;
    return isEmptied ? setJson(edited, [PERMISSION], undefined) : edited;
  };
}

function removeRules(text: string, patterns: ReadonlySet<string>): string {
  return Object.keys(permissionsIn(text)).filter((pattern) => patterns.has(pattern))
    .reduce((edited, pattern) => setJson(edited, [PERMISSION, pattern], undefined), text);
}

function permissionsIn(text: string): JsonObject {
  const permissions = valueAt(parseJson(text), [PERMISSION]);
  return isObject(permissions) ? permissions : {};
}

export const OPENCODE: Client = {
  title: "opencode",
  file,
  ...inJson({ parent: "mcp", entry: entryOf }),
  hooks: null,
  permissions: { file, allow, withdraw },
};
