/** What `kill -9` leaves of writes to tickets and of submissions. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { call, callAs, type Credentials, registerAgent, type Server } from "../support/api.ts";
import { startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const BASE = "/projects/demo/fossil/api";

/** How many tickets are submitted at once in each round. */
const AT_ONCE = 16;

/** After how many answers the program is killed, round by round. */
const KILL_AFTER = [0, 3, 20];

const MANY_CLAIMS = { MUSTER_PROJECTS_CLAIMS_PER_AGENT: "100" };

interface Ticket {
  readonly uuid: string;
  readonly title: string;
  readonly status: string;
  readonly body: string;
  readonly comments: readonly { readonly comment: string }[];
  readonly claim: { readonly agent: string } | null;
}

async function answer(response: Promise<Response>) {
  const { status } = await response;
  const text = await (await response).text();
  assert.ok(status < 400, text);
  return text === "" ? null : JSON.parse(text);
}

/** A ticket that the agent holds. */
async function claimed(server: Server, agent: Credentials, title: string): Promise<string> {
  const body = { title, comment: `What ${title} is about` };
  const { uuid } = await answer(callAs(server, agent, "POST", `${BASE}/tickets`, body));
  await answer(callAs(server, agent, "POST", `${BASE}/tickets/${uuid}/claim`, {}));
  return uuid;
}

Deno.test("kill -9 in writes to tickets leaves nothing half done and loses nothing acknowledged", async () => {
  await withFolder(async (folder) => {
    let builder: Credentials | null = null;
    const submitted = new Set<string>();
    const claims = new Set<string>();
    const created = new Set<string>();
    for (const [round, killAfter] of KILL_AFTER.entries()) {
      await using program = await startProgram({ folder, environment: MANY_CLAIMS });
      if (builder === null) {
        builder = await registerAgent(program, "builder");
        await answer(call(program, "POST", "/v1/projects", { slug: "demo" }));
        const member = { role: "write" };
        await answer(call(program, "PUT", "/v1/projects/demo/members/builder", member));
      }
      const agent = builder;
      const tickets: string[] = [];
      for (let index = 0; index < AT_ONCE; index++) {
        tickets.push(await claimed(program, agent, `Ticket ${round}.${index}`));
      }
      for (const ticket of tickets) claims.add(ticket);
      let answers = 0;
      let killed: Promise<number> | null = null;
      const killWhenDue = () => {
        if (answers++ >= killAfter) killed ??= program.stop("SIGKILL");
      };
      const send = async (path: string, body: unknown) => {
        const response = await callAs(program, agent, "POST", BASE + path, body).catch(() => null);
        const result = await response?.json().catch(() => null);
        if (result?.uuid !== undefined || response?.status === 200) killWhenDue();
        return result;
      };
      const writes = tickets.flatMap((ticket, index) => [
        send(`/tickets/${ticket}/submit`, { summary: `Work of ${ticket}` }).then((result) => {
          if (result?.status === "submitted") submitted.add(ticket);
        }),
        send("/tickets", { title: `New ${round}.${index}` }).then((result) => {
          if (result?.uuid !== undefined) created.add(result.uuid);
        }),
      ]);
      await Promise.all(writes);
      assert.ok(killed !== null, "The program was not killed");
      await killed;
    }

    {
      await using program = await startProgram({ folder });
      const { claims: held } = await answer(call(program, "GET", `${BASE}/claims?per_page=100`));
      const holding = new Set(held.map(({ ticket }: { ticket: string }) => ticket));
      const { events } = await answer(
        call(program, "GET", "/v1/events?after=0&limit=1000&types=project.claim,project.ticket"),
      );
      const told = (type: string, ticket: string, status?: string) =>
        events.filter((event: { type: string; data: Record<string, unknown> }) =>
          event.type === type && event.data["ticket"] === ticket &&
          (status === undefined || event.data["status"] === status)
        ).length;
      for (const uuid of claims) {
        const ticket: Ticket = await answer(call(program, "GET", `${BASE}/tickets/${uuid}`));
        const isDone = ticket.status === "Review";
        assert.equal(ticket.comments.length, isDone ? 1 : 0, ticket.title);
        assert.equal(holding.has(uuid), !isDone, ticket.title);
        assert.equal(ticket.claim === null, isDone, ticket.title);
        assert.equal(told("project.claim", uuid, "submitted"), isDone ? 1 : 0, ticket.title);
        assert.equal(told("project.ticket", uuid), isDone ? 2 : 1, ticket.title);
        assert.equal(ticket.body, `What ${ticket.title} is about`);
        if (submitted.has(uuid)) assert.ok(isDone, ticket.title);
      }
      for (const uuid of created) {
        const ticket: Ticket = await answer(call(program, "GET", `${BASE}/tickets/${uuid}`));
        assert.match(ticket.title, /^New /);
        assert.equal(told("project.ticket", uuid), 1);
      }
      assert.equal(submitted.size + created.size >= KILL_AFTER.length, true);
    }
    using database = new DatabaseSync(join(folder, "data", "muster.db"), { readOnly: true });
    assert.deepEqual(database.prepare("SELECT kind FROM intentions").all(), []);
    const active = "SELECT count(*) AS n FROM claims WHERE ended_at IS NULL";
    assert.equal(database.prepare(active).get()?.["n"], claims.size - countOfDone(database));
  });
});

function countOfDone(database: DatabaseSync): number {
  const row = database.prepare("SELECT count(*) AS n FROM claims WHERE outcome = 'submitted'")
    .get();
  return Number(row?.["n"]);
}
