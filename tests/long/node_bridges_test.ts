/** The bridges of several nodes on a real network. */
import assert from "node:assert/strict";
import { callAs, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { networkPeers, TestNetwork } from "../support/network.ts";
import { startNode } from "../support/network_nodes.ts";
import type { Services } from "../support/network_config.ts";
import { peer } from "../support/peers.ts";
import type { Program } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { WAIT_LIMIT, within } from "../support/until.ts";

interface Message {
  readonly id: string;
  readonly nick: string;
  readonly account: string | null;
  readonly via?: string;
  readonly text: string;
  readonly timestamp: string;
}

const CHANNEL = "/v1/channels/general";

async function say(program: Program, agent: Credentials, text: string): Promise<void> {
  const answer = await callAs(program, agent, "POST", `${CHANNEL}/messages`, { text });
  assert.equal(answer.status, 204, await answer.text());
}

/** The messages of the channel, once one has this text. */
async function messagesWith(program: Program, agent: Credentials, text: string) {
  const deadline = Date.now() + WAIT_LIMIT;
  let since = "";
  for (;;) {
    const query = since === "" ? "" : `&since=${since}&wait_seconds=10`;
    const answer = await callAs(program, agent, "GET", `${CHANNEL}/messages?limit=200${query}`);
    assert.equal(answer.status, 200);
    const page: Message[] = await answer.json();
    if (page.some((message) => message.text === text)) break;
    if (Date.now() > deadline) throw new Error(`Nobody said ${text}`);
    since = page.at(-1)?.id ?? since;
  }
  const answer = await callAs(program, agent, "GET", `${CHANNEL}/messages?limit=200`);
  return await answer.json() as Message[];
}

/** Every node has the same messages, up to the last one. */
async function assertEqual(nodes: readonly Program[], agent: Credentials, last: string) {
  const [first = [], ...others] = await Promise.all(
    nodes.map((node) => messagesWith(node, agent, last)),
  );
  for (const other of others) assert.deepEqual(other, first);
  const stamps = first.map(({ timestamp }) => timestamp);
  assert.deepEqual(stamps, [...new Set(stamps)].sort());
  return first;
}

/** The messages of the channel after one, as an event stream brings them. */
async function streamed(
  { api }: Program,
  { nick, passphrase }: Credentials,
  { after, count }: { readonly after: string; readonly count: number },
): Promise<Pick<Message, "nick" | "text" | "timestamp">[]> {
  const response = await fetch(`${api}${CHANNEL}/stream`, {
    headers: {
      authorization: `Basic ${btoa(`${nick}:${passphrase}`)}`,
      "last-event-id": after,
    },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(response.status === 200 && reader !== undefined);
  let text = "";
  const found = () => text.split("\n").slice(0, -1).filter((line) => line.startsWith("data: "));
  while (found().length < count) {
    const { value, done } = await within(reader.read(), () => `Message ${found().length + 1}`);
    assert.ok(!done, text);
    text += value;
  }
  await reader.cancel();
  return found().slice(0, count).map((line) => JSON.parse(line.slice("data: ".length)));
}

async function talk(services: Services, modern: boolean): Promise<void> {
  await using network = await TestNetwork.start({ services, modern });
  await withFolder(async (folder) => {
    const plan = { folder, network, services };
    await using a = await startNode("a", plan, null);
    await using b = await startNode("b", plan, a);
    const nodes = [a, b];
    const scout = await registerAgent(a, "scout", { channels: ["general"] });
    const coder = await registerAgent(b, "coder", { channels: ["general"] });
    await using person = await network.logIn(scout.nick, scout.passphrase);
    assert.ok(person !== null);
    await person.join("#general");
    await Promise.all(Array.from({ length: 12 }, async (_, turn) => {
      await person.send(`PRIVMSG #general :line ${turn}`);
      const node = nodes[turn % 2] ?? a;
      await Promise.all([say(node, scout, `scout ${turn}`), say(node, coder, `coder ${turn}`)]);
    }));
    await say(b, coder, "last");
    const all = await assertEqual(nodes, scout, "last");
    assert.equal(all.length, 37);
    for (const { nick, account, via, text } of all) {
      assert.deepEqual([account, via], [nick, undefined], text);
    }
    const index = 20;
    const resumed = await streamed(b, scout, { after: all[index]?.id ?? "", count: 16 });
    const after = all.slice(index + 1);
    assert.deepEqual(
      resumed,
      after.map(({ nick, text, timestamp }) => ({ nick, text, timestamp })),
    );

    await using eve = await IrcClient.connect(network.address);
    await eve.register({ nick: "eve" });
    await eve.send("CAP REQ :message-tags", "JOIN #general");
    await eve.expect(/ 366 /);
    await eve.send(
      "@+muster/nick=coder;+muster/account=coder PRIVMSG #general :[coder] not mine",
      `OPER ${network.plan.operator.name} ${network.plan.operator.password}`,
    );
    await eve.expect(/ 381 /);
    await messagesWith(a, coder, "[coder] not mine");
    await eve.send("KILL bridge-a :gone");
    await eve.expect(/ QUIT /);
    await say(b, coder, "meanwhile");
    await eve.expect(/:bridge-a!\S+ JOIN /);
    await say(a, coder, "back");
    const later = await assertEqual(nodes, scout, "back");
    assert.deepEqual(
      later.slice(all.length).map(({ nick, text }) => `${nick}: ${text}`),
      ["eve: [coder] not mine", "coder: meanwhile", "coder: back"],
    );
  });
}

for (const [services, modern] of [["atheme", true], ["anope", false]] as const) {
  const { ignore } = peer("postgres server");
  Deno.test({
    name: `the bridges of two nodes agree on InspIRCd with ${services}` +
      (modern ? "" : ", without ids, echoes and labels"),
    ignore: ignore || networkPeers(services).ignore,
    fn: () => talk(services, modern),
  });
}
