import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { call, registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { type Attempt, SECRET, SECRETS_SQL, SQL_ATTEMPTS } from "../support/sql_attempts.ts";

/** The result of a tool. */
interface ToolResult {
  readonly content: readonly { readonly text: string }[];
  readonly isError: boolean;
  readonly structuredContent?: Record<string, unknown>;
}

/** Calls `sql_query` as the holder of a credential. */
async function query(
  program: Program,
  authorization: string,
  input: { readonly slug?: string | undefined; readonly sql: string; readonly max_chars?: number },
): Promise<ToolResult> {
  const response = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization, "MCP-Protocol-Version": "2025-06-18" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "sql_query", arguments: { slug: "demo", ...input } },
    }),
  });
  return (await response.json()).result;
}

async function agent(program: Program, nick: string): Promise<string> {
  const { passphrase } = await registerAgent(program, nick, { channels: ["general"] });
  return `Basic ${btoa(`${nick}:${passphrase}`)}`;
}

/** A program with a project whose closed tables hold secrets, and two agents who may read it. */
async function startWithSecrets() {
  const program = await startProgram();
  const body = { slug: "demo", name: "Demo", description: "", visibility: "private" };
  assert.equal((await call(program, "POST", "/v1/projects", body)).status, 201);
  const readers: string[] = [];
  for (const nick of ["reader", "other"]) {
    readers.push(await agent(program, nick));
    const path = `/v1/projects/demo/members/${nick}`;
    assert.ok((await call(program, "PUT", path, { role: "read" })).ok);
  }
  using file = new DatabaseSync(join(program.folder, "data", "projects", "demo.fossil"));
  file.exec(SECRETS_SQL);
  return { program, readers };
}

type Scene = Awaited<ReturnType<typeof startWithSecrets>>;

const ENDLESS =
  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";

async function answersReader({ program, readers: [reader = ""] }: Scene): Promise<void> {
  const sql = "SELECT type, comment FROM event";
  const { structuredContent, content, isError } = await query(program, reader, { sql });
  assert.equal(isError, false, content[0]?.text);
  assert.deepEqual(structuredContent, {
    columns: ["type", "comment"],
    rows: [["ci", "initial empty check-in"]],
    count: 1,
    cut_off: null,
  });
  assert.equal(
    content[0]?.text,
    'columns: ["type","comment"]\n["ci","initial empty check-in"]\n1 row',
  );
  const only = await query(program, reader, { sql: "SELECT 7", slug: undefined });
  assert.deepEqual(only.structuredContent?.["rows"], [[7]], "The reader reaches one project");
  const endless = ENDLESS.replace("count(*)", "x");
  const many = await query(program, reader, { sql: endless });
  assert.equal(many.structuredContent?.count, 1000);
  assert.match(
    many.content[0]?.text ?? "",
    /1000 rows\. The statement was stopped at the limit of/,
  );
  const few = await query(program, reader, { sql: endless, max_chars: 1000 });
  assert.match(few.content[0]?.text ?? "", /did not fit into max_chars.*OFFSET \d+/);
}

async function refusesStrangers({ program }: Scene): Promise<void> {
  const stranger = await agent(program, "stranger-1");
  const { content, isError } = await query(program, stranger, { sql: "SELECT 1" });
  assert.equal(isError, true);
  assert.match(content[0]?.text ?? "", /There is no project "demo"/);
}

/**
 * One in six of the attempts, each in a process of its own, and all that need the real limit on memory.
 * tests/services/engines/fossil/sql_test.ts tries every attempt that neither fills memory nor runs on; those
 * that run on are tried in tests/services/work/queries, and two of them below.
 */
const ATTEMPTS: readonly Attempt[] = SQL_ATTEMPTS.filter(({ isLong, isLarge }, index) =>
  !isLong && (isLarge || index % 6 === 0)
);

async function refusesAttempts({ program, readers }: Scene): Promise<void> {
  const waiting = [...ATTEMPTS];
  assert.ok(waiting.length >= 25);
  const attack = async (authorization: string) => {
    for (let attempt = waiting.shift(); attempt !== undefined; attempt = waiting.shift()) {
      const { sql, refusal } = attempt;
      const { content, isError } = await query(program, authorization, { sql });
      const text = content.map(({ text }) => text).join("\n");
      assert.equal(isError, true, `${sql}\n${text.slice(0, 500)}`);
      assert.match(text, refusal, sql);
      assert.ok(!text.includes(SECRET), sql);
    }
  };
  await Promise.all(readers.map(attack));
  const { isError } = await query(program, readers[0] ?? "", { sql: "SELECT 1" });
  assert.equal(isError, false);
  assert.deepEqual(program.log.filter((line) => /bug|panic/i.test(line)), []);
}

async function leavesOthersAlone(
  { program, readers: [reader = "", other = ""] }: Scene,
): Promise<void> {
  let ended = 0;
  const endless = Array.from({ length: 5 }, async () => {
    const { content } = await query(program, reader, { sql: ENDLESS });
    ended++;
    return content[0]?.text ?? "";
  });
  assert.match(await Promise.race(endless), /Too many SQL statements run or wait already/);
  const answer = await query(program, other, { sql: "SELECT 1" });
  assert.equal(answer.isError, false, "Others are not held up");
  for (let count = 0; count < 20; count++) {
    const text = `message ${count}`;
    const posted = await call(program, "POST", "/v1/channels/general/messages", { text });
    assert.equal(posted.status, 204);
  }
  const ticket = { title: "Written meanwhile" };
  const made = await call(program, "POST", "/projects/demo/fossil/api/tickets", ticket);
  assert.equal(made.status, 201);
  assert.equal(ended, 1, "The other four run or wait");
  const late = endless.map(async (text) => {
    if (!/took longer than 5 seconds and was ended/.test(await text)) throw new Error(await text);
  });
  await Promise.any(late);
  await program.stop();
  await Promise.allSettled(late);
}

/** In this order: the last one ends the program. */
const STEPS = [
  ["sql_query answers a reader with columns, rows and what is missing", answersReader],
  ["sql_query is closed to those who may not read the project", refusesStrangers],
  ["attempts to read secrets, to write or to exhaust the machine are refused", refusesAttempts],
  [
    "a fifth statement is refused while four run or wait, and others, chat and commits go on",
    leavesOthersAlone,
  ],
] as const;

Deno.test("sql_query over MCP", async (test) => {
  const scene = await startWithSecrets();
  await using _ = scene.program;
  for (const [name, run] of STEPS) await test.step(name, () => run(scene));
});
