/** A whole shift, step by step: which tools the model calls, and what must come back. */
import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import type { McpAgent } from "../support/mcp_agent.ts";
import type { Program } from "../support/program.ts";
import { asked } from "../support/until.ts";

/** The world of one agent program: its project, and another agent that works there. */
export interface World {
  readonly slug: string;
  /** The agent of the program. */
  readonly nick: string;
  /** Its token's number. */
  readonly tokenId: string;
  readonly program: Program;
  /** The other agent. */
  readonly rival: McpAgent;
  /** What one step leaves to the next ones. */
  readonly notes: Map<string, string>;
  /** Ends the server with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again, on the same ports. */
  restart(): Promise<void>;
}

/** What the model calls. */
export interface ScriptedCall {
  readonly tool: string;
  readonly input: (world: World) => object;
  /** What happens to the world while the model thinks. */
  readonly before?: (world: World) => Promise<void>;
  /** What happens while the tool runs. */
  readonly meanwhile?: (world: World) => Promise<void>;
}

/** A step of the shift: a run of the program. */
export interface Step {
  readonly name: string;
  /** What the table calls it. */
  readonly title: string;
  readonly before?: (world: World) => Promise<void>;
  readonly calls: readonly ScriptedCall[];
  /** Checks what the model got of its calls. */
  readonly check: (results: readonly string[], world: World) => void | Promise<void>;
  readonly after?: (world: World) => Promise<void>;
}

/** Makes the project of a program, with tickets and a file. */
export async function prepare({ program, slug, nick, rival }: World): Promise<void> {
  await must(program, "POST", "/v1/projects", { slug, name: slug });
  for (const member of [nick, rival.nick]) {
    await must(program, "PUT", `/v1/projects/${slug}/members/${member}`, { role: "write" });
  }
  for (const title of ["Greet", "Taken", "Seed"]) {
    await rival.call("create_ticket", { slug, title, body: `The work of ${title}` });
  }
  await rival.call("start_work", { slug, ticket: "#3", workspace: "seed" });
  await commit(rival, slug, "seed", "one\ntwo\nthree\n");
  await rival.call("merge_workspace", { slug, workspace: "seed" });
}

async function commit(agent: McpAgent, slug: string, workspace: string, content: string) {
  const changes = [{ path: "a.txt", content }];
  await agent.call("commit_files", { slug, workspace, message: "Write", changes });
}

async function must(program: Program, method: string, path: string, body?: object) {
  const response = await call(program, method, path, body);
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** The number of the review in the result of `submit_work`. */
function reviewIn(results: readonly string[]): number {
  const [, review] =
    /"review":\s*(?:\{[^}]*"id":\s*)?(\d+)/.exec(results.map(unescaped).join("\n")) ?? [];
  return Number(review);
}

/** Clients show a result as it is, or as a text of JSON in JSON. */
function unescaped(text: string): string {
  return text.replaceAll('\\"', '"').replaceAll('\\\\"', '"');
}

const slugOf = ({ slug }: World) => ({ slug });
const work = (): ScriptedCall => ({ tool: "get_my_work", input: () => ({}) });
const land = (): ScriptedCall => ({
  tool: "land_review",
  input: (world) => ({ ...slugOf(world), review: Number(world.notes.get("review")) }),
});

function last(results: readonly string[]): string {
  return unescaped(results.at(-1) ?? "");
}

export const SHIFT: readonly Step[] = [
  {
    name: "work",
    title: "takes a ticket, commits, solves a conflict, submits",
    calls: [
      work(),
      {
        tool: "start_work",
        input: (world) => ({ ...slugOf(world), ticket: "#1", workspace: "greet" }),
      },
      {
        tool: "commit_files",
        input: (world) => ({
          ...slugOf(world),
          workspace: "greet",
          message: "Greet",
          changes: [{ path: "a.txt", content: "hello\ntwo\nthree\n" }],
        }),
      },
      {
        tool: "update_workspace",
        input: (world) => ({ ...slugOf(world), workspace: "greet" }),
        before: async ({ rival, slug }) => {
          await rival.call("create_workspace", { slug, workspace: "other" });
          await commit(rival, slug, "other", "good day\ntwo\nthree\n");
          await rival.call("merge_workspace", { slug, workspace: "other" });
        },
      },
      {
        tool: "update_workspace",
        input: (world) => ({
          ...slugOf(world),
          workspace: "greet",
          changes: [{ path: "a.txt", content: "hello, good day\ntwo\nthree\n" }],
        }),
      },
      {
        tool: "submit_work",
        input: (world) => ({
          ...slugOf(world),
          ticket: "#1",
          workspace: "greet",
          summary: "It greets",
          reviewers: [world.rival.nick],
        }),
      },
    ],
    check(results, { notes }) {
      assert.match(unescaped(results[3] ?? ""), /conflict/i);
      assert.match(unescaped(results[3] ?? ""), /a\.txt/);
      assert.doesNotMatch(unescaped(results[4] ?? ""), /conflict/i);
      const review = reviewIn(results);
      assert.ok(review > 0, last(results));
      notes.set("review", `${review}`);
    },
  },
  {
    name: "away",
    title: "starts before the server",
    before: (world) => world.kill(),
    calls: [work(), { ...work(), before: (world) => world.restart() }],
    check(results, { nick }) {
      assert.match(unescaped(results[0] ?? ""), /does not answer/i);
      assert.equal(results.length, 2);
      assert.match(last(results), new RegExp(nick));
    },
    after: (world) => world.restart(),
  },
  {
    name: "same",
    title: "is refused a ticket that another has",
    before: async ({ rival, slug }) => {
      await rival.call("claim_ticket", { slug, ticket: "#2" });
    },
    calls: [{ tool: "start_work", input: (world) => ({ ...slugOf(world), ticket: "#2" }) }],
    check: (results, { rival }) => assert.match(last(results), new RegExp(rival.nick)),
  },
  {
    name: "review",
    title: "reviews another's change",
    before: async ({ rival, slug, nick, notes }) => {
      await rival.call("create_workspace", { slug, workspace: "theirs" });
      await commit(rival, slug, "theirs", "good day\n2\nthree\n");
      const made = await rival.call("create_review", {
        slug,
        workspace: "theirs",
        title: "Two",
        description: "A digit",
        reviewers: [nick],
      });
      notes.set("theirs", String(made["review"] ?? made["id"]));
    },
    calls: [
      {
        tool: "get_review",
        input: (world) => ({ ...slugOf(world), review: Number(world.notes.get("theirs")) }),
      },
      {
        tool: "approve_review",
        input: (world) => ({ ...slugOf(world), review: Number(world.notes.get("theirs")) }),
      },
    ],
    check(results) {
      assert.match(unescaped(results[0] ?? ""), /\+2/);
      assert.match(last(results), /approved/i);
    },
  },
  {
    name: "red",
    title: "sees a red check",
    before: async ({ program, slug, notes, rival }) => {
      const id = Number(notes.get("review"));
      await rival.call("approve_review", { slug, review: id });
      const { tip } = await rival.call("get_review", { slug, review: id, diff: "none" });
      notes.set("tip", String(tip));
      await must(program, "POST", `/projects/${slug}/fossil/api/status`, {
        checkin: tip,
        context: "ci",
        state: "failure",
        description: "2 tests fail",
      });
    },
    calls: [{
      tool: "wait_checks",
      input: (world) => ({ ...slugOf(world), checkin: world.notes.get("tip") }),
    }],
    check: (results) => assert.match(last(results), /failure[^]*2 tests fail|2 tests fail/),
  },
  {
    name: "question",
    title: "asks a person and gets the answer",
    calls: [{
      tool: "ask_human",
      input: () => ({ text: "Ship it?", choices: ["yes", "no"], wait_seconds: 30 }),
      meanwhile: async ({ program, nick }) => {
        const [question] = await asked(
          () => must(program, "GET", "/v1/questions"),
          (questions) => JSON.stringify(questions).includes(nick),
        );
        await must(program, "POST", `/v1/questions/${question.id}/answer`, { answer: "yes" });
      },
    }],
    check: (results) => assert.match(last(results), /answer[^]{0,40}yes/i),
  },
  {
    name: "landing",
    title: "lands",
    before: async ({ program, slug, notes }) => {
      await must(program, "POST", `/projects/${slug}/fossil/api/status`, {
        checkin: notes.get("tip"),
        context: "ci",
        state: "success",
        description: "All pass",
      });
    },
    calls: [land()],
    async check(_results, { rival, slug, notes }) {
      const id = Number(notes.get("review"));
      await asked(
        () => rival.call("get_review", { slug, review: id, diff: "none" }),
        ({ status }) => status === "merged",
        10_000,
      );
    },
  },
  {
    name: "killed",
    title: "goes on after `kill -9` of the server",
    calls: [
      work(),
      {
        ...work(),
        before: async (world) => {
          await world.kill();
          await world.restart();
        },
      },
    ],
    check(results, { nick }) {
      assert.equal(results.length, 2);
      assert.match(last(results), new RegExp(nick));
    },
  },
  {
    name: "halted",
    title: "is told of a halt",
    before: async ({ program, nick }) => {
      await must(program, "POST", "/v1/halt", { agents: [nick], reason: "Stop here" });
    },
    calls: [{ tool: "send_direct", input: ({ rival }) => ({ to: rival.nick, text: "hello" }) }],
    check: (results) => assert.match(last(results), /halted/i),
    after: async ({ program, nick }) => {
      await must(program, "DELETE", `/v1/halt?agents=${nick}`);
    },
  },
  {
    name: "revoked",
    title: "is told of a revoked token",
    calls: [
      work(),
      {
        ...work(),
        before: async ({ program, tokenId }) => {
          await must(program, "DELETE", `/v1/tokens/${tokenId}`);
        },
      },
    ],
    check: (results) => assert.match(last(results), /token|credential|401|unauthori[sz]ed/i),
  },
];
