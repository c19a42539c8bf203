/** What the node that leads does for all is done once, although it dies. */
import assert from "node:assert/strict";
import { call, callAs, type Credentials, order, registerAgent } from "../support/api.ts";
import { moveProject, reaches, testCluster } from "../support/cluster.ts";
import type { Program } from "../support/program.ts";
import { asked } from "../support/until.ts";
import { Receiver } from "../services/work/webhooks/receiver.ts";

/** Waits until a node leads, as another one sees it. */
async function leads(node: Program, name: string): Promise<void> {
  const nodes = () => order(node, "GET /v1/nodes") as Promise<{ name: string; leader: boolean }[]>;
  await asked(nodes, (all) => all.some((one) => one.name === name && one.leader));
}

/** What an agent's inbox tells of the ends of questions. */
async function toldOf(node: Program, agent: Credentials): Promise<number[]> {
  const response = await callAs(node, agent, "GET", `/v1/agents/${agent.nick}/messages`);
  const text = await response.text();
  if (response.status === 503) return [];
  assert.equal(response.status, 200, text);
  const entries = JSON.parse(text) as { kind: string; question?: number }[];
  return entries.flatMap(({ kind, question }) => kind === "question" ? [question ?? 0] : []);
}

testCluster(
  "questions end at their deadlines although the leader dies, and askers hear once",
  async (cluster) => {
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await leads(two, "one");
    const scout = await registerAgent(one, "scout");
    const ask = async (node: Program, body: object) => {
      const response = await callAs(node, scout, "POST", "/v1/questions", body);
      assert.equal(response.status, 201, await response.clone().text());
      return (await response.json()).id as number;
    };
    const before = await ask(two, { text: "Before?" });
    await order(two, `POST /v1/questions/${before}/answer`, { answer: "yes" });
    await asked(() => toldOf(two, scout), (told) => told.includes(before));
    const expiring = await ask(two, { text: "Expires?", deadline: 10, default: "no" });
    const answered = await ask(one, { text: "During?" });
    await one.stop("SIGKILL");
    await order(two, `POST /v1/questions/${answered}/answer`, { answer: "yes" });
    const all = [before, answered, expiring];
    const told = await asked(() => toldOf(two, scout), (told) => told.length >= all.length);
    assert.deepEqual(told.toSorted(), all.toSorted());
    const { state, answer } = await order(two, `GET /v1/questions/${expiring}`) as {
      state: string;
      answer: string;
    };
    assert.deepEqual([state, answer], ["expired", "no"]);

    const again = await cluster.start("one");
    await two.stop();
    await asked(() => toldOf(again, scout), (told) => told.length > 0);
    assert.deepEqual((await toldOf(again, scout)).toSorted(), all.toSorted());
    const types = "question.answered,question.expired";
    const { events } = await order(again, `GET /v1/events?types=${types}`) as { events: unknown[] };
    assert.equal(events.length, all.length);
  },
);

testCluster("webhooks are sent once although the leader dies", async (cluster) => {
  await using receiver = new Receiver();
  const allowed = { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" };
  const one = await cluster.start("one", allowed);
  const two = await cluster.start("two", allowed);
  await leads(two, "one");
  await order(two, "POST /v1/projects", { slug: "demo" });
  await reaches(two, "demo");
  await reaches(one, "demo");
  const hook = { url: receiver.url, types: ["ticket"] };
  const path = "/v1/projects/demo/webhooks";
  const { id } = await order(two, `POST ${path}`, hook) as { id: string };
  const file = (node: Program, title: string) =>
    order(node, "POST /projects/demo/fossil/api/tickets", { title });
  const { node: home } = await order(two, "GET /v1/projects/demo") as { node: string };
  if (home === "one") await moveProject(two, "demo", "two");
  /** What was sent next; a leader that dies before it notes that would send it again. */
  const sentTitle = async () => {
    const { data } = JSON.parse((await receiver.next()).body);
    const list = () => order(two, `GET ${path}/${id}/deliveries`) as Promise<{ status: string }[]>;
    await asked(list, (all) => all.every(({ status }) => status === "delivered"));
    return data.title as string;
  };
  await file(two, "Before");
  assert.equal(await sentTitle(), "Before");
  await one.stop("SIGKILL");
  await file(two, "While nobody leads");
  assert.equal(await sentTitle(), "While nobody leads");
  await leads(two, "two");
  await file(two, "After");
  assert.equal(await sentTitle(), "After");
  const again = await cluster.start("one", allowed);
  await two.stop();
  await leads(again, "one");
  const made = await call(again, "POST", "/v1/projects", { slug: "other" });
  assert.equal(made.status, 201, await made.text());
  assert.equal(receiver.arrivals.length, 3);
});
