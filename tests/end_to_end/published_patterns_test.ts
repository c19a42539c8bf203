/**
 * The patterns of every published schema, in the engines of the programs that read them: one that an
 * engine refuses makes OpenAI, Vertex and generators of clients refuse the whole list.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, registerAgent } from "../support/api.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { runWith } from "../support/running.ts";
import { withFolder } from "../support/temporary.ts";

/** Which of some patterns an engine refuses. */
type Engine = (patterns: readonly string[]) => Promise<readonly string[]>;

/** What no engine takes, and what all take. */
const REFUSED = ["a(", "[z-a]"];
const TAKEN = ["^[a-z]+$", "^(?:a|b){1,3}$"];

/** Those that a program refuses: it is asked about all together, and about each if it takes not all. */
async function refusedOf(
  patterns: readonly string[],
  takes: (patterns: readonly string[]) => Promise<boolean>,
): Promise<string[]> {
  if (await takes(patterns)) return [];
  const refused: string[] = [];
  for (const pattern of patterns) if (!await takes([pattern])) refused.push(pattern);
  return refused;
}

const ecmascript: Engine = (patterns) =>
  Promise.resolve(patterns.filter((pattern) =>
    ["", "u"].some((flags) => {
      try {
        new RegExp(pattern, flags);
        return false;
      } catch {
        return true;
      }
    })
  ));

const python: Engine = async (patterns) => {
  const script = [
    "import json, re, sys, warnings",
    'warnings.simplefilter("error")',
    "refused = []",
    "for pattern in json.load(sys.stdin):",
    "    try: re.compile(pattern)",
    "    except Exception: refused.append(pattern)",
    "print(json.dumps(refused))",
  ].join("\n");
  const { code, stdout, stderr } = await runWith(
    "python3",
    ["-c", script],
    JSON.stringify(patterns),
  );
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
};

/** Prometheus is written in Go: it compiles what a query compares with. */
const go: Engine = async (patterns) => {
  let refused: readonly string[] = [];
  await withFolder(async (folder) => {
    const file = join(folder, "rules.yml");
    refused = await refusedOf(patterns, async (some) => {
      const rules = some.map((pattern, at) => (
        { record: `rule_${at}`, expr: `up{x=~${JSON.stringify(pattern)}}` }
      ));
      await Deno.writeTextFile(file, JSON.stringify({ groups: [{ name: "patterns", rules }] }));
      return (await runWith("promtool", ["check", "rules", file], "")).code === 0;
    });
  });
  return refused;
};

/** ripgrep is written in Rust: it has the crate `regex`, whose bound of a compiled pattern is this. */
const rust: Engine = (patterns) =>
  refusedOf(patterns, async (some) => {
    const bounds = ["--no-config", "--multiline", "--regex-size-limit", "10M"];
    const args = [...bounds, ...some.flatMap((pattern) => ["-e", pattern]), "-"];
    return (await runWith("rg", args, "")).code !== 2;
  });

const ENGINES: readonly (readonly [name: string, engine: Engine, program: string | null])[] = [
  ["ECMAScript", ecmascript, null],
  ["Python", python, "python3"],
  ["Go", go, "promtool"],
  ["Rust", rust, "rg"],
];

function* patternsIn(part: unknown): Generator<string> {
  if (typeof part !== "object" || part === null) return;
  const { pattern } = part as { readonly pattern?: unknown };
  if (typeof pattern === "string") yield pattern;
  for (const nested of Object.values(part)) yield* patternsIn(nested);
}

/**
 * What the program publishes: the document, and the tools of the operator and of an agent.
 *
 * @param agent its header \`Authorization\`
 */
async function published({ api, mcp, token }: Program, agent: string): Promise<string[]> {
  const document = await (await fetch(`${api}/openapi.json`, {
    headers: { authorization: `Bearer ${token}` },
  })).json();
  const tools = [];
  for (const authorization of [`Bearer ${token}`, agent]) {
    for (const revision of ["2024-11-05", "2025-11-25"]) {
      const response = await fetch(`${mcp}?tools=all`, {
        method: "POST",
        headers: { authorization, "mcp-protocol-version": revision },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      const { result } = await response.json();
      assert.ok(result.tools.length > 20);
      tools.push(result.tools);
    }
  }
  return [...new Set(patternsIn([document, tools]))].toSorted();
}

const missing = ENGINES.filter(([, , program]) => program !== null && peer(program).ignore);

Deno.test("every published pattern compiles in four engines", {
  ignore: missing.length > 0,
}, async (test) => {
  await using program = await startProgram();
  const { nick, passphrase } = await registerAgent(program, "worker");
  await call(program, "POST", "/v1/projects", { slug: "demo" });
  await call(program, "PUT", `/v1/projects/demo/members/${nick}`, { role: "write" });
  const patterns = await published(program, `Basic ${btoa(`${nick}:${passphrase}`)}`);
  assert.ok(patterns.length > 10);
  for (const [name, engine] of ENGINES) {
    await test.step(name, async () => {
      assert.deepEqual(await engine([...TAKEN, ...REFUSED]), REFUSED);
      assert.deepEqual(await engine(patterns), []);
    });
  }
});
