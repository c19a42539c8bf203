import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { denoWords } from "../../cli/clients/install.ts";
import { ASKED_TOOLS } from "../../cli/clients/permissions.ts";
import { atHome, homeOf, runAtHome, tokenFileOf } from "../support/agent_clients.ts";
import { call } from "../support/api.ts";
import { musterWords, type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

/** The files of clients in a home folder. */
const FILES = {
  claude: "claude/.claude.json",
  codex: ".codex/config.toml",
  gemini: ".gemini/settings.json",
  cursor: ".cursor/mcp.json",
} as const;

function userFile(program: Program, client: keyof typeof FILES): string {
  return join(homeOf(program), FILES[client]);
}

function read(path: string): Record<string, unknown> {
  return JSON.parse(Deno.readTextFileSync(path));
}

/** The words with which a client starts the muster under test. */
function words(): string[] {
  const [program, ...args] = musterWords().filter((word) => !word.startsWith("--v8-flags"));
  return [...program === Deno.execPath() ? denoWords(program) : [program ?? ""], ...args];
}

/**
 * The entry of a client for scout, as Claude Code has it.
 *
 * @param listed the words for the tools that it lists
 */
function entryOf(program: Program, listed: readonly string[] = []): unknown {
  const [command, ...args] = words();
  const env = { MUSTER_URL: program.mcp, MUSTER_TOKEN_FILE: tokenFileOf(program, "scout") };
  return { muster: { type: "stdio", command, args: [...args, "mcp", ...listed], env } };
}

/** Claude Code's entry: its model searches tools. */
function claudeEntry(program: Program): unknown {
  return entryOf(program, ["--tools", "all"]);
}

async function writesEntryAndHooks(program: Program): Promise<void> {
  const path = userFile(program, "claude");
  const install = ["mcp", "install", "claude", "--agent", "scout", "--hooks", "--yes"];
  const output = await atHome(program, ...install);
  assert.match(output, /^\+\+\+ .*\n@@ /m);
  assert.match(output, /"scout"\. It is a member of no project yet: "muster project member add/);
  assert.deepEqual(read(path)["mcpServers"], claudeEntry(program));
  assert.equal(Deno.statSync(path).mode! & 0o777, 0o600);

  // https://code.claude.com/docs/en/hooks
  const settings = join(homeOf(program), "claude", "settings.json");
  const hooks = read(settings)["hooks"] as Record<string, unknown>;
  const events = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"];
  assert.deepEqual(Object.keys(hooks), events);
  const command = [
    ...words(),
    ...["hook", "claude", "--url", program.api, "--agent", "scout"],
    ...["--token-file", tokenFileOf(program, "scout")],
  ].join(" ");
  const waits = {
    hooks: [{
      type: "command",
      command: `exec ${command.replace("hook claude", "hook claude --wait")}`,
      timeout: 28_860,
      async: true,
      asyncRewake: true,
    }],
  };
  for (const [event, groups] of Object.entries(hooks)) {
    assert.deepEqual(groups, [
      { hooks: [{ type: "command", command, timeout: 5 }] },
      ...event === "Stop" ? [waits] : [],
    ]);
  }
  assert.match(await atHome(program, ...install), /already has this entry/);
  // An installation from before there was a hook that waits.
  const { Stop: [first], ...others } = hooks as { Stop: unknown[] };
  const older = { ...read(settings), hooks: { ...others, Stop: [first] } };
  Deno.writeTextFileSync(settings, JSON.stringify(older));
  await atHome(program, ...install);
  assert.deepEqual(read(settings)["hooks"], hooks);
  const again = await runAtHome(program, install.filter((word) => word !== "--hooks"));
  assert.equal(again.code, 0, again.stderr);
  assert.doesNotMatch(again.stderr, /also shows the agent its inbox/);
  assert.deepEqual(read(settings)["hooks"], hooks);

  const token = Deno.readTextFileSync(tokenFileOf(program, "scout")).trim();
  const tokens = await (await call(program, "GET", "/v1/tokens")).json();
  assert.deepEqual(tokens.map(({ owner }: { owner: string }) => owner), ["scout"]);
  const files = await new Deno.Command("grep", { args: ["-rl", token, homeOf(program)] }).output();
  assert.equal(new TextDecoder().decode(files.stdout).trim(), tokenFileOf(program, "scout"));

  assert.match(await atHome(program, "mcp", "uninstall", "claude", "--yes"), /^-.*muster/m);
  assert.deepEqual([read(path)["mcpServers"], read(settings)["hooks"]], [{}, undefined]);
}

async function allowsTheTools(program: Program): Promise<void> {
  // https://code.claude.com/docs/en/permissions
  const settings = join(homeOf(program), "claude", "settings.json");
  const before = '{\n  // mine\n  "permissions": { "allow": ["Read"], "deny": ["WebFetch"] }\n}\n';
  Deno.mkdirSync(dirname(settings), { recursive: true });
  Deno.writeTextFileSync(settings, before);
  const install = ["mcp", "install", "claude", "--agent", "scout", "--allow", "--yes"];
  await atHome(program, ...install);
  const text = Deno.readTextFileSync(settings);
  assert.match(text, /^\{\n {2}\/\/ mine$/m);
  assert.deepEqual(JSON.parse(text.replace("// mine", ""))["permissions"], {
    allow: ["Read", "mcp__muster"],
    deny: ["WebFetch"],
    ask: [
      "mcp__muster__register_agent",
      "mcp__muster__answer_question",
      "mcp__muster__abandon_workspace",
      "mcp__muster__close_review",
    ],
  });
  assert.match(await atHome(program, ...install), /already has this entry/);
  await atHome(program, "mcp", "uninstall", "claude", "--yes");
  const { permissions } = JSON.parse(Deno.readTextFileSync(settings).replace("// mine", ""));
  assert.deepEqual(permissions, { allow: ["Read"], deny: ["WebFetch"] });

  Deno.removeSync(settings);
  await atHome(program, ...install);
  await atHome(program, "mcp", "uninstall", "claude", "--yes");
  assert.deepEqual(read(settings), {});

  // https://developers.openai.com/codex/config-reference
  const codex = userFile(program, "codex");
  Deno.mkdirSync(dirname(codex), { recursive: true });
  Deno.writeTextFileSync(codex, '# mine\nmodel = "x"\n');
  const withCodex = install.map((word) => word === "claude" ? "codex" : word);
  await atHome(program, ...withCodex);
  const written = Deno.readTextFileSync(codex);
  assert.match(written, /^# mine\nmodel = "x"\n\n\[mcp_servers\.muster\]\n/);
  assert.match(written, /^default_tools_approval_mode = "approve"$/m);
  const prompts = written.matchAll(
    /^\[mcp_servers\.muster\.tools\.(\w+)\]\napproval_mode = "prompt"$/gm,
  );
  assert.deepEqual(Array.from(prompts, ([, tool]) => tool), ASKED_TOOLS);
  assert.match(await atHome(program, ...withCodex), /already has this entry/);
  await atHome(program, ...withCodex.filter((word) => word !== "--allow"));
  assert.equal(Deno.readTextFileSync(codex), written);
  await atHome(program, "mcp", "uninstall", "codex", "--yes");
  assert.equal(Deno.readTextFileSync(codex), '# mine\nmodel = "x"\n');

  const told = {
    cursor: /list of tools that need no question from permissions\.json/,
    copilot: new RegExp(`these are for ${await Deno.realPath(program.folder)}$`, "m"),
    goose: /in the mode auto, which is its default, it uses every tool without asking/,
    gemini: /^\+\+\+ .*policies\/muster\.toml$/m,
    opencode: /^\+ {4}"muster_abandon_workspace": "ask",$/m,
  };
  for (const [client, text] of Object.entries(told)) {
    const words = install.map((word) => word === "claude" ? client : word);
    assert.match(await atHome(program, ...words), text, client);
  }
  const refusals = [
    [
      "vscode",
      "--agent",
      "scout",
      "--allow",
      /no file for permissions: allow each tool in its dialog/,
    ],
    ["gemini", "--project", "--allow", /no permissions in a project's files: leave out --allow/],
    ["goose", "--project", /goose has no files of a project: leave out --project/],
  ] as const;
  for (const refusal of refusals) {
    const words = refusal.filter((word) => typeof word === "string");
    const { code, stderr } = await runAtHome(program, ["mcp", "install", ...words, "--yes"]);
    assert.equal(code, 2);
    assert.match(stderr, refusal.at(-1) as RegExp);
  }
}

async function callsTheModels(program: Program): Promise<void> {
  const backend = { name: "none", provider: "mine", base_url: "http://127.0.0.1:9" };
  await call(program, "POST", "/v1/llm/backends", backend);
  const settings = join(homeOf(program), "claude", "settings.json");
  const before = '{\n  // mine\n  "env": { "A": "b" }\n}\n';
  Deno.mkdirSync(dirname(settings), { recursive: true });
  Deno.writeTextFileSync(settings, before);
  const install = ["mcp", "install", "claude", "--agent", "scout", "--gateway", "--yes"];
  await atHome(program, ...install);
  const path = tokenFileOf(program, "scout");
  // https://code.claude.com/docs/en/settings
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(settings).replace("// mine", "")), {
    env: { A: "b", ANTHROPIC_BASE_URL: `${program.api}/v1/llm/anthropic` },
    apiKeyHelper: `cat ${path}`,
  });
  assert.match(await atHome(program, ...install), /already has this entry/);
  await atHome(program, "mcp", "uninstall", "claude", "--yes");
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(settings).replace("// mine", "")), {
    env: { A: "b" },
  });

  // https://developers.openai.com/codex/config-advanced
  const codex = userFile(program, "codex");
  Deno.mkdirSync(dirname(codex), { recursive: true });
  Deno.writeTextFileSync(codex, '# mine\nmodel = "x"\n\n[tui]\ntheme = "y"\n');
  const withCodex = install.map((word) => word === "claude" ? "codex" : word);
  await atHome(program, ...withCodex);
  const { mcp_servers: _, ...written } = JSON.parse(
    JSON.stringify(parseToml(Deno.readTextFileSync(codex))),
  );
  const provider = {
    name: "muster",
    base_url: `${program.api}/v1/llm/openai`,
    wire_api: "responses",
    auth: { command: "cat", args: [path] },
  };
  assert.deepEqual(written, {
    model: "x",
    model_provider: "muster",
    tui: { theme: "y" },
    model_providers: { muster: provider },
  });
  assert.match(await atHome(program, ...withCodex), /already has this entry/);
  await atHome(program, "mcp", "uninstall", "codex", "--yes");
  assert.equal(
    Deno.readTextFileSync(codex),
    '# mine\nmodel = "x"\n\n[tui]\ntheme = "y"\n',
  );

  // The token in the file opens the door that the entry names.
  const token = Deno.readTextFileSync(path).trim();
  const models = await fetch(`${program.api}/v1/llm/anthropic/v1/models`, {
    headers: { "x-api-key": token },
  });
  assert.equal(models.status, 200);
  await models.body?.cancel();
  for (const words of [["gemini", "--agent", "scout"], ["claude", "--project"]]) {
    const args = ["mcp", "install", ...words, "--gateway", "--yes"];
    const { code, stderr } = await runAtHome(program, args);
    assert.equal(code, 2);
    assert.match(stderr, /leave out --gateway/);
  }
}

async function namesNobody(program: Program): Promise<void> {
  const path = join(program.folder, ".codex", "config.toml");
  await atHome(program, "mcp", "install", "codex", "--project", "--http", "--yes");
  assert.equal(
    Deno.readTextFileSync(path),
    `[mcp_servers.muster]\nurl = "${program.mcp}"\nbearer_token_env_var = "MUSTER_TOKEN"\n`,
  );
  assert.equal(Deno.statSync(path).mode! & 0o777, 0o644);
  const args = ["mcp", "install", "claude", "--project", "--agent", "a"];
  const refused = await runAtHome(program, args);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /A project's file names no agent/);
}

async function keepsTheRest(program: Program): Promise<void> {
  const path = userFile(program, "gemini");
  const before = `\uFEFF{
  // mine
  "mcpServers": {
    "docs": { "command": "docs" },
    "muster": { "command": "old", "env": { "DEBUG": "1", "MUSTER_URL": "x" }, "trust": true },
  },
}
`;
  const real = join(program.folder, "dotfiles.json");
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(real, before, { mode: 0o640 });
  Deno.symlinkSync(real, path);
  const output = await atHome(program, "mcp", "install", "gemini", "--agent", "scout", "--yes");
  const text = Deno.readTextFileSync(path);
  assert.match(
    text,
    /^\uFEFF\{\n {2}\/\/ mine\n {2}"mcpServers": \{\n {4}"docs": \{ "command": "docs" \},$/m,
  );
  assert.match(text, /"trust": true/);
  assert.match(text, /"DEBUG": "1"/);
  assert.ok(Deno.lstatSync(path).isSymlink);
  assert.equal(Deno.statSync(real).mode! & 0o777, 0o640);
  const copy = /the old file is (.*)$/m.exec(output)?.[1] ?? "";
  assert.equal(dirname(copy), await Deno.realPath(program.folder));
  assert.equal(Deno.readTextFileSync(copy), before);
  assert.equal(Deno.statSync(copy).mode! & 0o777, 0o640);
}

async function ignoresForeignConfiguration(program: Program): Promise<void> {
  await Deno.writeTextFile(join(program.folder, "config.yaml"), "version: 2\njobs: []\n");
  const { code, stderr } = await runAtHome(program, ["agent", "list"]);
  assert.equal(code, 0, stderr);
  const strict = await runAtHome(program, ["agent", "list", "--config", "config.yaml"]);
  assert.equal(strict.code, 2);
}

async function changesNothing(program: Program): Promise<void> {
  const claude = userFile(program, "claude");
  const codex = userFile(program, "codex");
  for (const path of [claude, codex]) Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(claude, '{"mcpServers": {');
  Deno.writeTextFileSync(codex, "a = [");
  for (const [client, what] of [["claude", "JSON"], ["codex", "TOML"]] as const) {
    const args = ["mcp", "install", client, "--agent", "scout", "--yes"];
    const { code, stderr } = await runAtHome(program, args);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`stays as it is: it is not valid ${what}: see line 1$`, "m"));
  }
  assert.equal(Deno.readTextFileSync(claude), '{"mcpServers": {');

  const hookless = ["mcp", "install", "cursor", "--agent", "scout", "--hooks", "--yes"];
  assert.match((await runAtHome(program, hookless)).stderr, /leave out --hooks$/m);
  const away = { environment: { MUSTER_URL: "http://127.0.0.1:1" } };
  const lost = await runAtHome(program, ["mcp", "install", "cursor", "--agent", "scout"], away);
  assert.equal(lost.code, 2);
  assert.match(lost.stderr, /^Nothing answers at http:\/\/127\.0\.0\.1:1\/mcp: start muster, or/m);

  const unasked = await runAtHome(program, ["mcp", "install", "cursor", "--agent", "scout"]);
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /^Nothing was written: add --yes/m);
  const printed = await atHome(program, "mcp", "install", "cursor", "--agent", "scout", "--print");
  assert.deepEqual(JSON.parse(printed), { mcpServers: entryOf(program) });
  assert.throws(() => Deno.statSync(userFile(program, "cursor")), Deno.errors.NotFound);
  assert.throws(() => Deno.statSync(tokenFileOf(program, "scout")), Deno.errors.NotFound);
  assert.deepEqual(await (await call(program, "GET", "/v1/agents")).json(), []);
}

async function takesTheToken(program: Program): Promise<void> {
  await atHome(program, "agent", "add", "builder");
  const issued = JSON.parse(
    await atHome(program, "token", "add", "builder", "--scopes", "read,write", "--json"),
  );
  const install = ["mcp", "install", "cursor", "--agent", "builder", "--yes"];
  const stranger = { environment: { MUSTER_TOKEN: "0".repeat(40) }, stdin: "f".repeat(40) };
  const wrong = await runAtHome(program, [...install, "--token-stdin"], stranger);
  assert.match(wrong.stderr, /is not one of the agent "builder"/);
  assert.throws(() => Deno.statSync(userFile(program, "cursor")), Deno.errors.NotFound);
  const own = await runAtHome(program, [...install, "--token-stdin"], {
    ...stranger,
    stdin: issued.token,
  });
  assert.equal(own.code, 0, own.stderr);
  const path = tokenFileOf(program, "builder");
  assert.equal(Deno.readTextFileSync(path), `${issued.token}\n`);
  assert.equal(Deno.statSync(path).mode! & 0o777, 0o600);
  assert.equal(Deno.statSync(dirname(path)).mode! & 0o777, 0o700);

  await atHome(program, "token", "remove", issued.id);
  await atHome(program, ...install);
  const fresh = Deno.readTextFileSync(path).trim();
  assert.notEqual(fresh, issued.token);
  const news = { text: "The build is red" };
  await (await call(program, "POST", "/v1/agents/builder/messages", news)).body?.cancel();
  await atHome(program, ...install);
  const headers = { authorization: `Bearer ${fresh}` };
  const inbox = `${program.api}/v1/agents/builder/messages?unread=true`;
  assert.match(await (await fetch(inbox, { headers })).text(), /The build is red/);
  const shown = await runAtHome(program, ["agent", "inbox", "builder"], {
    environment: { MUSTER_TOKEN_FILE: path },
  });
  assert.equal(shown.code, 0, shown.stderr);
}

/** In this order: the first ones find no agent and no token. */
const STEPS = [
  ["an unreadable file, a missing answer and --print change nothing", changesNothing],
  ["a project's file names no person, no path and no secret", namesNobody],
  [
    "a client gets an entry and hooks, once, with a token that no file of it contains",
    writesEntryAndHooks,
  ],
  ["with --allow a client asks for few tools, and uninstall takes that back", allowsTheTools],
  ["with --gateway a client calls its models through the server, by the token", callsTheModels],
  ["what else is in a file stays, and a copy of it is kept beside it", keepsTheRest],
  ["a file config.yaml of another program does no harm", ignoresForeignConfiguration],
  [
    "an agent without the operator's token brings its own, and a revoked one is replaced",
    takesTheToken,
  ],
] as const;

Deno.test("muster mcp install", async (test) => {
  await using program = await startProgram();
  for (const [name, run] of STEPS) {
    await test.step(name, () =>
      withFolder(async (folder) => {
        await Deno.symlink(join(program.folder, "data"), join(folder, "data"));
        await run({ ...program, folder });
      }));
  }
});
