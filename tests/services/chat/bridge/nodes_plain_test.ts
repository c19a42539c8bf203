import assert from "node:assert/strict";
import type { ChannelMessage } from "../../../../services/chat/bridge/mod.ts";
import { until } from "../../../support/until.ts";
import { shownOn, type TestNode, testNodes } from "./nodes_support.ts";
import { agentCaller, IrcUser, OPERATOR_CALLER } from "./support.ts";
import { NOTHING, Veil } from "./veil.ts";

testNodes(
  "nodes agree on a network without ids, echoes, tags and times",
  async ({ server, start }) => {
    const connect = () => new Veil(server, NOTHING);
    const nodes: TestNode[] = [];
    for (const name of ["a", "b", "c"]) nodes.push(await start(name, { connect }));
    await until(() => nodes.some(({ leadership }) => leadership.isLeading));
    const ann = new IrcUser(server, "ann");
    await ann.join("#general");
    const posts: Promise<void>[] = [];
    for (let turn = 0; turn < 10; turn++) {
      for (const { name, bridge } of nodes) {
        posts.push(bridge.post("general", { text: "again" }, agentCaller(`agent-${name}`)));
        posts.push(bridge.post("general", { nick: "zoe", text: "again" }, OPERATOR_CALLER));
      }
      ann.send("PRIVMSG #general :again", "PRIVMSG #general :[zoe] again");
    }
    await ann.sync();
    await Promise.all(posts);
    const count = 10 * (3 * 2 + 2);
    const lists: ChannelMessage[][] = [];
    for (const node of nodes) lists.push(await shownOn(node, count));
    const [first = []] = lists;
    for (const list of lists) assert.deepEqual(list, first);
    const counts: Record<string, number> = {};
    for (const { nick, account, via, text } of first) {
      const speaker = [nick, account, via ?? "", text].join();
      counts[speaker] = (counts[speaker] ?? 0) + 1;
    }
    assert.deepEqual(counts, {
      "agent-a,agent-a,,again": 10,
      "agent-b,agent-b,,again": 10,
      "agent-c,agent-c,,again": 10,
      "zoe,,bridge,again": 30,
      "ann,,,again": 10,
      "ann,,,[zoe] again": 10,
    });
  },
);
