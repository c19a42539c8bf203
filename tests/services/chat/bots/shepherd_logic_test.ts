import assert from "node:assert/strict";
import {
  PlanBook,
  propose,
  quoteSituation,
  readPlan,
  type Situation,
} from "../../../../services/chat/bots/shepherd/plan_book.ts";

const GOAL = { text: "Ship it", channel: "#a", by: "ann", time: 0 };
const TASK = { account: "bob", task: "Write tests", channel: "#a", by: "ann", time: 0 };

Deno.test("goals and tasks share numbers, end once, and survive", () => {
  const book = new PlanBook(null);
  assert.equal(book.addGoal({ ...GOAL, text: " Ship\n it " }).text, "Ship it");
  assert.equal(book.assign(TASK).number, 2);
  assert.equal(book.addGoal({ ...GOAL, channel: "#b" }).number, 3);
  book.finish(book.find("#1"));
  assert.throws(() => book.find("1"), { message: "There is no open goal or task 1" });
  assert.throws(() => book.find("x"), { message: '"x" is no number of a goal or a task' });
  const restored = new PlanBook(book.state);
  assert.deepEqual(restored.goals(null).map(({ number }) => number), [3]);
  assert.deepEqual(restored.goals("#A"), []);
  assert.deepEqual(restored.assignments("#A").map(({ task }) => task), ["Write tests"]);
  assert.equal(restored.addGoal(GOAL).number, 4);
});

Deno.test("ended goals give way, open ones do not", () => {
  const book = new PlanBook(null);
  const goals = Array.from({ length: 200 }, () => book.addGoal(GOAL));
  assert.throws(() => book.addGoal(GOAL), { message: "There are 200 goals; end some first" });
  book.finish(goals[7] ?? GOAL as never);
  book.addGoal(GOAL);
  assert.equal(book.state.goals.length, 200);
});

Deno.test("silent owners are asked three times, then reported once, until they are heard", () => {
  const book = new PlanBook(null);
  book.assign(TASK);
  const look = (now: number) => {
    const { ask, report } = book.overdue(100, now);
    return [ask.length, report.length];
  };
  assert.deepEqual([99, 100, 150, 200, 300].map(look), [[0, 0], [1, 0], [0, 0], [1, 0], [1, 0]]);
  assert.deepEqual([400, 500, 900].map(look), [[0, 1], [0, 0], [0, 0]]);
  assert.deepEqual(book.hear("BOB", "almost", 1000).map(({ note }) => note), ["almost"]);
  assert.deepEqual([1050, 1100].map(look), [[0, 0], [1, 0]]);
  assert.deepEqual(book.overdue(0, 9999), { ask: [], report: [] });
  assert.deepEqual(book.hear("eve", "mine?", 1000), []);
  assert.deepEqual(book.hear("bob", "this one", 1000, 99), []);
});

const SITUATION: Situation = {
  goals: [{ ...GOAL, number: 1, status: "active" }],
  assignments: [],
  work: [{
    project: "demo",
    unclaimed: [{ id: "abcd", title: "Fix it" }],
    unclaimedTotal: 1,
    claims: [{ id: "ef01", title: "Build it", agent: "bob", expiresAt: 0 }],
  }],
  agents: ["ann", "bob"],
};

Deno.test("without a model, unclaimed work goes to agents that have none", () => {
  assert.deepEqual(propose(SITUATION), [
    { task: "ticket abcd of demo: Fix it", nick: "ann" },
    { task: "goal 1: Ship it", nick: null },
  ]);
  assert.deepEqual(propose({ goals: [], assignments: [], work: [], agents: ["ann"] }), []);
});

Deno.test("a model's plan names known agents or nobody", () => {
  const items = [{ task: "Fix\nit", nick: "ANN" }, { task: "Rest", nick: "mallory" }];
  const plan = readPlan(JSON.stringify({ items }), ["ann"]);
  assert.deepEqual(plan, [{ task: "Fix it", nick: "ann" }, { task: "Rest", nick: null }]);
  assert.equal(readPlan("Let us fix it", ["ann"]), null);
  assert.equal(readPlan('{"items": [{"task": ""}]}', ["ann"]), null);
  const lines = quoteSituation(SITUATION).split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.length, 5);
});
