/** A night: agents work through a graph of tickets, and no person is there. */
import assert from "node:assert/strict";
import { type ToolTest, withTools } from "./support.ts";

/** The tickets for which each of them waits, by number. */
const GRAPH: readonly (readonly number[])[] = [
  [],
  [1],
  [1],
  [1],
  [2, 3],
  [3, 4],
  [5],
  [5, 6],
  [6],
  [7, 8],
  [8, 9],
  [10],
  [10, 11],
  [12, 13],
];

/** Files the tickets of the graph, the last one first. */
async function fileGraph(test: ToolTest): Promise<void> {
  for (const at of GRAPH.keys()) await test.use("create_ticket", { title: `Step ${at + 1}` });
  for (const [at, blocked_by] of GRAPH.entries()) {
    await test.use("update_ticket", { uuid: String(at + 1), blocked_by });
  }
}

/** Takes the next free ticket; its number, or null if another agent was faster, or nothing is free. */
async function takeNext(test: ToolTest, as: string): Promise<number | null> {
  const { data } = await test.use("list_tickets", { unclaimed: true, limit: 1 }, as);
  const [next] = data.tickets;
  if (next === undefined) return null;
  const call = { name: "claim_ticket", arguments: { uuid: next.uuid } };
  const { isError } = await test.rpc("tools/call", call, as) as { readonly isError: boolean };
  return isError ? null : next.number;
}

/** Does the work of a ticket that the agent holds, and merges it, which closes the ticket. */
async function work(test: ToolTest, number: number, as: string): Promise<void> {
  const name = `step-${number}`;
  await test.use("create_workspace", { name, description: "", ticket: `#${number}` }, as);
  const changes = [{ path: `${name}.txt`, content: `${number}\n` }];
  await test.use("commit_files", { workspace: name, message: `Do #${number}`, changes }, as);
  await test.use("merge_workspace", { name }, as);
}

Deno.test("a graph of 14 tickets is worked through in an order that it allows", () =>
  withTools(async (test) => {
    await fileGraph(test);
    await test.use("update_ticket", { uuid: "9", assignee: "other" });
    const circle = await test.fail("update_ticket", { uuid: "1", blocked_by: [14] });
    assert.match(circle, /circle/);
    assert.match(await test.fail("claim_ticket", { uuid: "14" }), /is blocked by #12, #13/);
    const lost = await takeNext(test, test.other);
    assert.equal(lost, 1);
    test.api.services.clock.advance(25 * 60 * 60 * 1000);

    const done: number[] = [];
    for (let round = 0; done.length < GRAPH.length; round++) {
      assert.ok(round < 2 * GRAPH.length, `only ${done.join(", ")} are done`);
      await Promise.all([test.caller, test.other].map(async (as) => {
        const number = await takeNext(test, as);
        if (number === null) return;
        for (const blocker of GRAPH[number - 1] ?? []) {
          assert.ok(done.includes(blocker), `#${number}`);
        }
        await work(test, number, as);
        done.push(number);
      }));
    }
    const { tickets } = await test.answer("GET /api/tickets?state=closed&per_page=100");
    assert.equal(tickets.length, GRAPH.length);
    const { data } = await test.use("get_my_work");
    assert.deepEqual([data.claims, data.assigned, data.unclaimed, data.workspaces], [
      [],
      [],
      [],
      [],
    ]);
  }));

Deno.test("get_my_work has what an agent is assigned until it is done", () =>
  withTools(async (test) => {
    await test.use("create_ticket", { title: "First" });
    const { data: made } = await test.use("create_ticket", {
      title: "Second",
      assignee: "caller",
      labels: ["night"],
      blocked_by: ["#1"],
    }, test.other);
    const assigned = async () => (await test.use("get_my_work")).data.assigned;
    const entry = {
      project: "demo",
      ticket: made.uuid,
      ticket_number: 2,
      title: "Second",
      status: "Open",
      is_blocked: true,
    };
    assert.deepEqual(await assigned(), [entry]);
    const labeled = await test.use("list_tickets", { label: "night", assignee: "me" });
    assert.equal(labeled.data.tickets[0].number, 2);
    const free = { unclaimed: true, assignee: "me" };
    assert.equal((await test.use("list_tickets", free)).data.total, 0);
    await test.use("update_ticket", { uuid: "1", status: "Closed" });
    assert.equal((await test.use("list_tickets", free)).data.total, 1);
    assert.equal((await test.use("list_tickets", { unclaimed: true }, test.other)).data.total, 0);
    assert.deepEqual(await assigned(), [{ ...entry, is_blocked: false }]);
    await test.use("claim_ticket", { uuid: "2" });
    const { data: mine } = await test.use("get_my_work");
    assert.deepEqual([mine.assigned, mine.claims[0].ticket_number], [[], 2]);
    await test.use("update_ticket", { uuid: "2", assignee: "nobody" });
    const { data: ticket } = await test.use("get_ticket", { uuid: "2" });
    assert.deepEqual([ticket.assignee, ticket.labels, ticket.fields], ["", ["night"], {}]);
  }));
