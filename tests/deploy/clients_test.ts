/** `deploy/clients/`: a plugin for Claude Code, and extensions for Codex and Gemini CLI. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "smol-toml";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { clientOf } from "../../cli/clients/definitions.ts";
import { TOOL_NAMES } from "../../cli/clients/tool_names.ts";
import denoJson from "../../deno.json" with { type: "json" };

const FOLDER = new URL("../../deploy/clients/", import.meta.url).pathname;

/** Where the parts of a client's package are. */
const PACKAGES = { claude: "claude", codex: "codex/plugins/muster", gemini: "gemini" } as const;

function read(...path: string[]): string {
  return Deno.readTextFileSync(join(FOLDER, ...path));
}

function json(...path: string[]): unknown {
  return JSON.parse(read(...path));
}

const text = z.string().min(1);
const person = z.strictObject({ name: text });
const version = z.literal(denoJson.version);
const name = z.literal("muster");

/** https://code.claude.com/docs/en/plugins-reference and /plugin-marketplaces */
const CLAUDE = {
  ".claude-plugin/plugin.json": z.strictObject({
    name,
    version,
    description: text,
    author: person,
    license: z.literal("MIT"),
    keywords: z.array(text),
  }),
  ".claude-plugin/marketplace.json": z.strictObject({
    name,
    owner: person,
    description: text,
    plugins: z.tuple([z.strictObject({ name, source: z.literal("./"), description: text })]),
  }),
  ".mcp.json": z.strictObject({
    mcpServers: z.strictObject({
      muster: z.strictObject({
        type: z.literal("stdio"),
        command: z.literal("muster"),
        args: z.tuple([z.literal("mcp"), z.literal("--tools"), z.literal("all")]),
        env: z.strictObject({ MUSTER_URL: z.literal("${MUSTER_URL}") }),
      }),
    }),
  }),
};

/** https://developers.openai.com/codex/plugins/build */
const CODEX = {
  ".agents/plugins/marketplace.json": z.strictObject({
    name,
    interface: z.strictObject({ displayName: text }),
    plugins: z.tuple([z.strictObject({
      name,
      source: z.strictObject({
        source: z.literal("local"),
        path: z.literal("./plugins/muster"),
      }),
      policy: z.strictObject({
        installation: z.enum(["NOT_AVAILABLE", "AVAILABLE", "INSTALLED_BY_DEFAULT"]),
        authentication: z.enum(["ON_INSTALL", "ON_FIRST_USE"]),
      }),
      category: text,
    })]),
  }),
  "plugins/muster/.codex-plugin/plugin.json": z.strictObject({
    name,
    version,
    description: text,
    author: person,
    license: z.literal("MIT"),
    skills: z.literal("./skills/"),
    mcpServers: z.literal("./.mcp.json"),
    hooks: z.literal("./hooks/hooks.json"),
    interface: z.strictObject({
      displayName: text,
      shortDescription: text,
      longDescription: text,
      developerName: text,
      category: text,
      capabilities: z.array(z.enum(["Interactive", "Read", "Write"])),
      defaultPrompt: z.array(text.max(128)).max(3),
    }),
  }),
  "plugins/muster/.mcp.json": z.strictObject({
    mcpServers: z.strictObject({
      muster: z.strictObject({
        command: z.literal("muster"),
        args: z.tuple([z.literal("mcp")]),
        env_vars: z.array(z.enum(["MUSTER_URL", "MUSTER_TOKEN", "MUSTER_TOKEN_FILE"])),
      }),
    }),
  }),
};

/** https://geminicli.com/docs/extensions/reference */
const GEMINI = {
  "gemini-extension.json": z.strictObject({
    name,
    version,
    description: text,
    mcpServers: z.strictObject({
      muster: z.strictObject({
        command: z.literal("muster"),
        args: z.tuple([z.literal("mcp")]),
        env: z.strictObject({
          MUSTER_URL: z.literal("${MUSTER_URL}"),
          MUSTER_TOKEN: z.literal("${MUSTER_TOKEN}"),
        }),
      }),
    }),
  }),
};

for (const [client, files] of Object.entries({ claude: CLAUDE, codex: CODEX, gemini: GEMINI })) {
  Deno.test(`the package for ${client} has the form that its client documents`, () => {
    for (const [path, schema] of Object.entries(files)) schema.parse(json(client, path));
  });
}

Deno.test("the packages register the hooks that mcp install registers", () => {
  for (const [client, folder] of Object.entries(PACKAGES)) {
    const { hooks } = clientOf(client);
    const { timeout, waiting } = hooks ?? {};
    const command = { type: "command", command: `muster hook ${client}`, timeout };
    const waits = {
      type: "command",
      command: `exec muster hook ${client} --wait`,
      timeout: waiting?.timeout,
      ...waiting?.also,
    };
    const expected = hooks?.events.map((event) => [
      event,
      [{ hooks: [command] }, ...event === waiting?.event ? [{ hooks: [waits] }] : []],
    ]) ?? [];
    assert.deepEqual(json(folder, "hooks", "hooks.json"), { hooks: Object.fromEntries(expected) });
  }
});

/** The head of a Markdown file. */
function headOf(markdown: string): unknown {
  const [, head = ""] = /^---\n([^]*?)\n---\n\n/.exec(markdown) ?? [];
  return parseYaml(head);
}

/** https://agentskills.io/specification */
const SKILL = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/).max(64),
  description: text.max(1024),
});

Deno.test("the packages have the same skill, and skills are named like their folders", () => {
  const skills = Object.values(PACKAGES).map((folder) => read(folder, "skills/muster/SKILL.md"));
  assert.equal(new Set(skills).size, 1);
  for (const skill of ["muster", "shift", "review", "land"]) {
    const head = SKILL.parse(headOf(read(PACKAGES.codex, "skills", skill, "SKILL.md")));
    assert.equal(head.name, skill);
  }
});

Deno.test("the packages have the same commands; in Codex they are skills", () => {
  for (const command of ["shift", "review", "land"]) {
    const markdown = read(PACKAGES.claude, "commands", `${command}.md`);
    const head = z.strictObject({ description: text, "argument-hint": text.optional() })
      .parse(headOf(markdown));
    const toml = parse(read(PACKAGES.gemini, "commands/muster", `${command}.toml`));
    const { description, prompt } = z.strictObject({ description: text, prompt: text }).parse(toml);
    const bodies = [
      markdown,
      prompt,
      read(PACKAGES.codex, "skills", command, "SKILL.md"),
    ].map((body) => body.replace(/^---[^]*?\n---/, "").trim());
    const plain = bodies.map((body) =>
      body.replaceAll(/\s+/g, " ")
        .replace(/\$ARGUMENTS|\{\{args\}\}|NUMBER, which your user names,/, "NUMBER")
    );
    assert.equal(new Set(plain).size, 1, command);
    assert.equal(head.description, description);
  }
});

Deno.test("the texts of the packages name tools that there are", () => {
  const own = /\b[a-z]+(?:_[a-z]+)+\b/g;
  const known = new Set([...TOOL_NAMES, "wait_seconds"]);
  const commands = ["shift", "review", "land"].map((name) => `commands/${name}.md`);
  for (const file of ["skills/muster/SKILL.md", ...commands]) {
    const named = read(PACKAGES.claude, file).match(own) ?? [];
    assert.deepEqual(named.filter((word) => !known.has(word)), [], file);
  }
});
