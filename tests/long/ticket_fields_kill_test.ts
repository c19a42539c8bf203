/** What `kill -9` leaves of changes of ticket fields, which leave no artifact. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { call, type Server } from "../support/api.ts";
import { peer } from "../support/peers.ts";
import { startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { difference, dumpTables } from "../services/engines/fossil/support/tables.ts";

const FIELDS = "/projects/demo/fossil/api/tickets/fields";
const TICKETS = "/projects/demo/fossil/api/tickets";

/** How many fields are defined at once in each round. */
const AT_ONCE = 6;

/** After how many answers the program is killed, round by round. */
const KILL_AFTER = [0, 1, 3];

/** The fields that the events tell of, in order. */
async function toldFields(program: Server): Promise<readonly string[]> {
  const response = await call(
    program,
    "GET",
    "/v1/events?after=0&limit=1000&types=project.ticket_field",
  );
  const { events } = await response.json();
  const told = new Set<string>();
  for (const { data: { name, action } } of events) {
    assert.equal(told.has(name), action === "removed", `${name} is ${action} twice`);
    if (action === "removed") told.delete(name);
    else told.add(name);
  }
  return [...told].sort();
}

Deno.test({
  name: "kill -9 in changes of ticket fields leaves whole tickets, and one event for each change",
  ignore: peer("fossil").ignore,
  fn: () =>
    withFolder(async (folder) => {
      const acknowledged = new Map<string, "defined" | "removed">();
      for (const [round, killAfter] of KILL_AFTER.entries()) {
        await using program = await startProgram({ folder });
        if (round === 0) await call(program, "POST", "/v1/projects", { slug: "demo" });
        const { status } = await call(program, "POST", TICKETS, { title: `Ticket ${round}` });
        assert.equal(status, 201);
        let answers = 0;
        let killed: Promise<number> | null = null;
        const send = async (method: string, path: string, body?: unknown) => {
          const response = await call(program, method, path, body).catch(() => null);
          if (response !== null && answers++ >= killAfter) killed ??= program.stop("SIGKILL");
          return response?.ok === true;
        };
        const changes = Array.from({ length: AT_ONCE }, async (_, index) => {
          const name = `f${round}_${index}`;
          if (!await send("POST", FIELDS, { name })) return;
          acknowledged.set(name, "defined");
          if (index % 2 === 0 && await send("DELETE", `${FIELDS}/${name}`)) {
            acknowledged.set(name, "removed");
          }
        });
        await Promise.all(changes);
        assert.ok(killed !== null, "The program was not killed");
        await killed;
      }

      {
        await using program = await startProgram({ folder });
        const { custom } = await (await call(program, "GET", FIELDS)).json();
        const fields: string[] = custom.map(({ name }: { name: string }) => name).sort();
        assert.deepEqual(await toldFields(program), fields);
        for (const [name, action] of acknowledged) {
          if (action === "removed") assert.ok(!fields.includes(name), name);
          // An odd field is never removed; an even one may be, without an answer.
          else if (Number(name.at(-1)) % 2 === 1) assert.ok(fields.includes(name), name);
        }
        const { total } = await (await call(program, "GET", TICKETS)).json();
        assert.equal(total, KILL_AFTER.length);
        await program.stop();
      }
      using database = new DatabaseSync(join(folder, "data", "muster.db"), { readOnly: true });
      assert.deepEqual(database.prepare("SELECT kind FROM intentions").all(), []);
      using scratch = new Scratch();
      const file = join(folder, "data", "projects", "demo.fossil");
      assert.match(scratch.fossil(["test-integrity", "-R", file]), / 0 errors/);
      const before = dumpTables(file);
      scratch.fossil(["rebuild", file]);
      assert.deepEqual(difference(before, dumpTables(file)), []);
    }),
});
