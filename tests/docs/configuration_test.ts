import assert from "node:assert/strict";
import { join } from "node:path";
import { z } from "zod";
import { loadConfig } from "../../services/operation/config/mod.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import { parseDefinition } from "../../services/work/definitions/mod.ts";
import { withFolder } from "../support/temporary.ts";
import { readPage, readUserPages, ROOT } from "./pages.ts";

/** A JSON Schema, as far as it is used here. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The paths of all keys, those of groups too. */
function keysOf(schema: Schema, prefix = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    prefix + name,
    ...keysOf(inner, `${prefix}${name}.`),
  ]);
}

const KEYS = keysOf(
  z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as Schema,
);

/** Whether a key holds other keys. */
function isGroup(key: string): boolean {
  return KEYS.some((other) => other.startsWith(`${key}.`));
}

/** Variables that are no configuration keys, as docs/configuration.md lists them. */
const OTHER_VARIABLES = [
  "MUSTER_AGENT",
  "MUSTER_API_TOKEN",
  "MUSTER_RUNNER_TOKEN",
  "MUSTER_TOKEN",
  "MUSTER_TOKEN_FILE",
  "MUSTER_URL",
];

/** Variables of the jobs of checks, as docs/checks.md lists them. */
const JOB_VARIABLES = ["ATTEMPT", "BRANCH", "CAUSE", "CHECK", "CHECKIN", "PROJECT", "RUN"]
  .map((name) => `MUSTER_${name}`);

/** The types of events. */
async function eventTypes(): Promise<ReadonlySet<string>> {
  const text = await Deno.readTextFile(join(ROOT, "services/engines/events/types.ts"));
  return new Set(Array.from(text.matchAll(/^ {2}"(\w+\.\w+)":/gm), ([, type = ""]) => type));
}

Deno.test("every configuration key and variable that the documentation names exists", async () => {
  const types = await eventTypes();
  const unknown: string[] = [];
  for (const { path, spans } of await readUserPages()) {
    for (const span of spans.flat().filter((span) => !types.has(span))) {
      const [key = ""] = span.split(":", 1);
      const isKey = /^[a-z]+(\.[a-z_]+)+$/.test(key) && isGroup(key.split(".", 1)[0] ?? "");
      if (isKey && !/\.(md|yaml|json)$/.test(key) && !KEYS.includes(key)) {
        unknown.push(`${path}: ${span}`);
      }
      const [variable] = /^MUSTER_[A-Z_]+/.exec(span) ?? [];
      const names = KEYS.map((key) => `MUSTER_${key.replaceAll(".", "_").toUpperCase()}`);
      const known = [...OTHER_VARIABLES, ...JOB_VARIABLES, "MUSTER_", ...names];
      if (variable !== undefined && !known.includes(variable)) {
        unknown.push(`${path}: ${variable}`);
      }
    }
  }
  assert.deepEqual(unknown, []);
});

Deno.test("docs/configuration.md has every group of keys, and every key outside of groups", async () => {
  const { spans } = await readPage("docs/configuration.md");
  const named = new Set(spans.flat());
  const top = KEYS.filter((key) => key.split(".").length === 1 || isGroup(key));
  assert.deepEqual(top.filter((key) => !named.has(key)), []);
});

Deno.test("every configuration that the documentation shows is valid", async () => {
  const pages = await readUserPages();
  const blocks = pages.flatMap(({ blocks }) => blocks)
    .filter(({ language, text }) => language === "yaml" && !isOfAnother(text));
  assert.ok(blocks.length >= 3);
  for (const { text } of blocks) {
    await withFolder(async (folder) => {
      const file = join(folder, "config.yaml");
      await Deno.writeTextFile(file, text);
      await loadConfig({ file, fileRequired: true, environment: {}, flags: {} });
    });
  }
});

/** Whether a block is for another program, or a file in a repository, which its first line names. */
function isOfAnother(text: string): boolean {
  return /^\s*# (?:(?:Ergo|Litestream)'s|\.)/.test(text) || isDefinition(text);
}

function isDefinition(text: string): boolean {
  return /^checks:$/m.test(text);
}

Deno.test("every definition of checks that the documentation shows is valid", async () => {
  const blocks = (await readUserPages()).flatMap(({ blocks }) => blocks)
    .filter(({ language, text }) => language === "yaml" && isDefinition(text));
  assert.ok(blocks.length >= 1);
  for (const { text } of blocks) parseDefinition(text);
});

Deno.test("every type of event that the documentation names exists", async () => {
  const types = await eventTypes();
  const groups = new Set([...types].map((type) => type.split(".", 1)[0]));
  for (const { path, spans } of await readUserPages()) {
    for (const span of spans.flat().filter((span) => /^[a-z_]+\.[a-z_]+$/.test(span))) {
      const isEvent = groups.has(span.split(".", 1)[0]) && !KEYS.includes(span);
      if (isEvent) assert.ok(types.has(span), `${path}: ${span}`);
    }
  }
});
