/** goose: https://goose-docs.ai/docs/guides/config-files */
import { join } from "node:path";
import { stringify } from "yaml";
import {
  type Client,
  environmentOf,
  type Launch,
  type Surroundings,
  TOKEN_VARIABLE,
} from "./client.ts";
import { isObject, type JsonObject, valueAt } from "./config_text.ts";
import { ALLOWED_TOOLS, ASKED_TOOLS } from "./permissions.ts";
import { parseYaml, setYaml } from "./yaml_text.ts";

const PARENT = "extensions";

/** The lists of tools in `permission.yaml`. goose reads them only if all are there. */
const PERSON = "user";
const LISTS = ["always_allow", "ask_before", "never_allow"] as const;

/** Seconds that a call may take: some wait for a person. */
const TIMEOUT = 300;

/** The keys of an entry that muster writes. All others are the person's own. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "cmd",
  "args",
  "uri",
  "headers",
  "envs",
  "env_keys",
]);

function folderOf({ home, environment, system }: Surroundings): string {
  const { GOOSE_PATH_ROOT: root, XDG_CONFIG_HOME: configuration, APPDATA: data } = environment;
  if (root !== undefined) return join(root, "config");
  if (system !== "windows") return join(configuration ?? join(home, ".config"), "goose");
  return join(data ?? join(home, "AppData", "Roaming"), "Block", "goose", "config");
}

/** A file for one person; goose has none for a project. */
const fileNamed = (name: string): Client["file"] => (scope, surroundings) =>
  scope === "project" ? null : join(folderOf(surroundings), name);

/** The name by which goose calls an entry, in its file and in front of the names of tools. */
function keyOf(name: string): string {
  return name.replaceAll(/\s/g, "").replaceAll(/[^\w-]/g, "_").toLowerCase();
}

function entryOf(name: string, launch: Launch): JsonObject {
  const shared = { name, enabled: true, description: "Work with other agents", timeout: TIMEOUT };
  if (launch.kind === "http") {
    return {
      type: "streamable_http",
      ...shared,
      uri: launch.url,
      headers: { Authorization: `Bearer \${${TOKEN_VARIABLE}}` },
      envs: {},
      env_keys: [TOKEN_VARIABLE],
    };
  }
  return {
    type: "stdio",
    ...shared,
    cmd: launch.command,
    args: launch.args,
    envs: environmentOf(launch, null),
    env_keys: launch.token.kind === "environment" ? [TOKEN_VARIABLE] : [],
  };
}

/** Writes the entry into a text; keeps the keys of an older one that are not muster's. */
function add(name: string, launch: Launch) {
  return (text: string): string => {
    const older = valueAt(parseYaml(text), [PARENT, keyOf(name)]);
    const others = isObject(older)
      ? Object.entries(older).filter(([key]) => !OWN_KEYS.has(key))
      : [];
    const entry = { ...entryOf(name, launch), ...Object.fromEntries(others) };
    return setYaml(text, [PARENT, keyOf(name)], entry);
  };
}

/** Puts tools on the lists that they belong on, and takes them off others. */
function withTools(
  text: string,
  name: string,
  wanted: Readonly<Record<string, readonly string[]>>,
) {
  const prefix = `${keyOf(name)}__`;
  const user = valueAt(parseYaml(text), [PERSON]);
  return LISTS.reduce((edited, list) => {
    const present: unknown = valueAt(user, [list]);
    const others = Array.isArray(present)
      ? present.filter((one) => typeof one !== "string" || !one.startsWith(prefix))
      : [];
    const own = (wanted[list] ?? []).map((tool) => `${prefix}${tool}`);
    return setYaml(edited, [PERSON, list], [...others, ...own]);
  }, text);
}

export const GOOSE: Client = {
  title: "goose",
  file: fileNamed("config.yaml"),
  show: (name, launch) =>
    stringify({ [PARENT]: { [keyOf(name)]: entryOf(name, launch) } }, { lineWidth: 0 }).trimEnd(),
  add,
  remove: (name) => (text) => setYaml(text, [PARENT, keyOf(name)], undefined),
  hooks: null,
  permissions: {
    file: fileNamed("permission.yaml"),
    allow: (name) => (text) =>
      withTools(text, name, { always_allow: ALLOWED_TOOLS, ask_before: ASKED_TOOLS }),
    withdraw: (name) => (text) =>
      isObject(valueAt(parseYaml(text), [PERSON])) ? withTools(text, name, {}) : text,
    note: () =>
      "goose asks only in its modes approve and smart_approve: in the mode auto, which is its " +
      "default, it uses every tool without asking",
  },
};
