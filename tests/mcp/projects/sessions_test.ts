/** Several terminals of one installation: each is somebody, and all together count as one. */
import assert from "node:assert/strict";
import { callerOnIrc } from "../../../services/people/identity/mod.ts";
import { asked } from "../../support/until.ts";
import { type ToolTest, withTools } from "./support.ts";

/** What a tool answers. */
interface Called {
  readonly text: string;
  readonly isError: boolean;
  readonly data: ReturnType<typeof JSON.parse>;
}

/** A terminal: it calls tools in a session of its own. */
class Terminal {
  readonly #test: ToolTest;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(test: ToolTest, id: string, header = "muster-session") {
    this.#test = test;
    this.#headers = { [header]: id };
  }

  async call(name: string, input: object = {}): Promise<Called> {
    const params = { name, arguments: input };
    const { headers: asked } = { headers: this.#headers };
    const result = await this.#test.rpc("tools/call", params, undefined, undefined, {
      headers: asked,
    }) as {
      content: { text: string }[];
      isError: boolean;
      structuredContent: unknown;
    };
    const [{ text = "" } = {}] = result.content;
    return { text, isError: result.isError, data: result.structuredContent };
  }

  async use(name: string, input: object = {}): Promise<Called["data"]> {
    const called = await this.call(name, input);
    assert.equal(called.isError, false, `${name}: ${called.text}`);
    return called.data;
  }

  async fail(name: string, input: object = {}): Promise<string> {
    const called = await this.call(name, input);
    assert.equal(called.isError, true, `${name}: ${called.text}`);
    return called.text;
  }
}

/** Two terminals of the agent `caller`, which have called, so that the first is the agent itself. */
async function twoTerminals(test: ToolTest) {
  const [first, second] = [new Terminal(test, "terminal-1"), new Terminal(test, "terminal-2")];
  const { data: { uuid } } = await test.use(
    "create_ticket",
    { title: "One", body: "" },
    test.other,
  );
  for (const terminal of [first, second]) await terminal.use("list_tickets");
  return { first, second, ticket: uuid };
}

/** Ends a terminal, as its client does. */
async function end(test: ToolTest, id: string): Promise<void> {
  const { agentSessions, accounts } = test.api.services;
  const account = accounts.find("caller") ?? assert.fail();
  const { principal } = callerOnIrc(account);
  await agentSessions.end({ principal, address: null, requestId: null }, { id });
}

Deno.test("each terminal has a name, and a second claim names the one that holds the ticket", async () => {
  await withTools(async (test) => {
    const { first, second, ticket } = await twoTerminals(test);
    assert.equal((await first.use("claim_ticket", { uuid: ticket })).agent, "caller");
    assert.match(
      await second.fail("claim_ticket", { uuid: ticket }),
      /^Ticket already claimed\. caller holds/,
    );
    assert.match(await second.fail("release_ticket", { uuid: ticket }), /claiming agent/);
    const refused = await second.fail("create_workspace", { name: "w", ticket });
    assert.match(refused, /"caller" holds the claim/);
    assert.equal((await first.use("create_workspace", { name: "w", ticket })).agent_id, "caller");
    const changes = [{ path: "a.txt", content: "A\n" }];
    const commit = { workspace: "w", message: "Add a", changes };
    assert.match(await second.fail("commit_files", commit), /belongs to "caller"/);
    await first.use("commit_files", commit);
    const { data: { uuid: other } } = await test.use("create_ticket", { title: "Two", body: "" });
    assert.equal((await second.use("claim_ticket", { uuid: other })).agent, "caller-2");
    // Without a session, the caller is the agent itself.
    await test.use("claim_ticket", { uuid: ticket });
    assert.match(await test.fail("claim_ticket", { uuid: other }), /caller-2 holds/);
  });
});

Deno.test("a terminal hears its own name where the server speaks to it", async () => {
  await withTools(async (test) => {
    await twoTerminals(test);
    const headers = { "muster-session": "terminal-2" };
    const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} };
    const { instructions } = await test.rpc("initialize", opening, undefined, undefined, {
      headers,
    }) as { instructions: string };
    assert.match(instructions, /You are the agent "caller-2".* a session of "caller"\./);
    assert.doesNotMatch(instructions, /caller-2-2/);
    const inbox = (more: Record<string, string>) =>
      test.api.send({
        who: "guest",
        request: "GET /v1/agents/caller/messages",
        headers: { authorization: test.caller, ...more },
      });
    assert.equal((await inbox(headers)).headers.get("muster-session-name"), "caller-2");
    assert.equal((await inbox({})).headers.get("muster-session-name"), null);
  });
});

Deno.test("of two terminals that claim at once, one wins", async () => {
  await withTools(async (test) => {
    const { data: { uuid } } = await test.use("create_ticket", { title: "One", body: "" });
    const terminals = Array.from(
      { length: 6 },
      (_, index) => new Terminal(test, `session-${index}`),
    );
    const called = await Promise.all(terminals.map((one) => one.call("claim_ticket", { uuid })));
    const won = called.filter(({ isError }) => !isError);
    assert.equal(won.length, 1);
    const holder = won[0]?.data.agent;
    for (const { isError, text } of called) {
      if (isError) assert.ok(text.includes(`${holder} holds the ticket`), text);
    }
    const { id } = test.api.services.accounts.find("caller") ?? assert.fail();
    assert.deepEqual(
      test.api.services.agentSessions.liveOf(id).map(({ name }) => name),
      ["caller", "caller-2", "caller-3", "caller-4", "caller-5", "caller-6"],
    );
  });
});

Deno.test("a session does not approve what another of its agent wrote", async () => {
  await withTools(async (test) => {
    const { first, second } = await twoTerminals(test);
    await first.use("create_workspace", { name: "w" });
    const changes = [{ path: "a.txt", content: "A\n" }];
    await first.use("commit_files", { workspace: "w", message: "Add a", changes });
    const { id } = await first.use("create_review", { title: "Add a", workspace: "w" });
    assert.match(await second.fail("approve_review", { id }), /^Cannot approve your own review/);
    const asked = { title: "Other", workspace: "w", reviewers: ["caller-2"] };
    await first.use("commit_files", {
      workspace: "w",
      message: "More",
      changes: [{ path: "b.txt", content: "B\n" }],
    });
    assert.match(await first.fail("create_review", asked), /open|cannot review/);
  });
});

Deno.test("what an ended session held passes to another one that claims it", async () => {
  await withTools(async (test) => {
    const { second, ticket } = await twoTerminals(test);
    await second.use("claim_ticket", { uuid: ticket });
    await second.use("create_workspace", { name: "w", ticket });
    const changes = [{ path: "a.txt", content: "A\n" }];
    await second.use("commit_files", { workspace: "w", message: "Add a", changes });
    const third = new Terminal(test, "terminal-3");
    assert.match(await third.fail("claim_ticket", { uuid: ticket }), /caller-2 holds/);
    await end(test, "terminal-2");
    const more = {
      workspace: "w",
      message: "More",
      changes: [{ path: "b.txt", content: "B\n" }],
    };
    assert.match(
      await third.fail("commit_files", more),
      /"caller-2" has ended and left this ticket/,
    );
    const passed = await third.use("claim_ticket", { uuid: ticket });
    assert.deepEqual([passed.agent, passed.generation], ["caller-3", 2]);
    await third.use("commit_files", more);
    assert.equal((await third.use("get_workspace", { name: "w" })).agent_id, "caller-3");
    assert.match(await test.fail("claim_ticket", { uuid: ticket }), /caller-3 holds/);
  });
});

Deno.test("a new session is offered what ended ones left", async () => {
  await withTools(async (test) => {
    const { first, second, ticket } = await twoTerminals(test);
    await second.use("claim_ticket", { uuid: ticket });
    await second.use("create_workspace", { name: "w", ticket });
    assert.deepEqual((await second.use("get_my_work")).claims.length, 1);
    const { you, claims, workspaces, left: none } = await first.use("get_my_work");
    assert.deepEqual([you, claims, workspaces, none], ["caller", [], [], undefined]);
    await end(test, "terminal-2");
    for (const terminal of [first, new Terminal(test, "terminal-3")]) {
      const { left: [left] } = await terminal.use("get_my_work");
      const { session, claims: [claim], workspaces: [workspace] } = left;
      assert.deepEqual([session, claim.ticket, workspace.name], ["caller-2", ticket, "w"]);
    }
    await first.use("claim_ticket", { uuid: ticket });
    await first.use("update_workspace", { name: "w" }).catch(() => {});
    const { claims: own } = await first.use("get_my_work");
    assert.deepEqual(own.map(({ ticket }: { ticket: string }) => ticket), [ticket]);
  });
});

Deno.test("a ticket of the agent is offered to each of its sessions, until one holds it", async () => {
  await withTools(async (test) => {
    const { first, second, ticket } = await twoTerminals(test);
    const given = { uuid: ticket, assignee: "caller-2" };
    assert.equal((await test.use("update_ticket", given, test.operator)).data.assignee, "caller");
    const assignedTo = async (terminal: Terminal) => (await terminal.use("get_my_work")).assigned;
    for (const terminal of [first, second]) {
      const [assigned] = await assignedTo(terminal);
      assert.equal(assigned.ticket, ticket);
      const { tickets } = await terminal.use("list_tickets", { unclaimed: true, assignee: "me" });
      assert.equal(tickets.length, 1);
    }
    await second.use("claim_ticket", { uuid: ticket });
    assert.deepEqual(await assignedTo(first), []);
  });
});

/** The texts of an inbox. */
async function inboxOf(terminal: Terminal): Promise<string[]> {
  const { text } = await terminal.call("read_inbox");
  return text.split("\n").slice(1).map((line) => line.replace(/^\[\w+\] (?:<\w+> )?/, ""));
}

Deno.test("each session has an inbox, and somebody gets what is said to the agent", async () => {
  await withTools(async (test) => {
    const { first, second } = await twoTerminals(test);
    const say = (to: string, text: string) =>
      test.rpc("tools/call", { name: "send_direct", arguments: { to, text } }, test.other);
    await say("caller", "to the first");
    await say("caller-2", "to the second");
    assert.deepEqual(await inboxOf(first), ["to the first"]);
    assert.deepEqual(await inboxOf(second), ["to the second"]);
    await say("caller-2", "unread by the second");
    await end(test, "terminal-2");
    await asked(() => inboxOf(first), (texts) => texts.includes("unread by the second"));
    await say("caller-2", "to one that has ended");
    assert.ok((await inboxOf(first)).includes("to one that has ended"));
    const third = new Terminal(test, "terminal-3");
    await third.use("list_tickets");
    await end(test, "terminal-1");
    await say("caller", "to the agent");
    assert.deepEqual(await inboxOf(third), ["to the agent"]);
  });
});
