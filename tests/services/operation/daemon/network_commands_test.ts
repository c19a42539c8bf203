/** Commands on an IRC network that every node hears. */
import assert from "node:assert/strict";
import type { HeardMessage } from "../../../../services/chat/bridge/mod.ts";
import { NetworkCommands } from "../../../../services/operation/daemon/network_commands.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

interface World {
  readonly scheduler: TestScheduler;
  /** The ids of messages that a node has taken. */
  readonly taken: Set<string>;
  /** What was done, as `NODE: TEXT`. */
  readonly done: string[];
  /** The nodes that run, as all of them see it. */
  readonly running: Set<string>;
  leader: string | null;
  /** Whether the database refuses. */
  isAway: boolean;
}

function newWorld(...running: string[]): World {
  return {
    scheduler: new TestScheduler(),
    taken: new Set(),
    done: [],
    running: new Set(running),
    leader: null,
    isAway: false,
  };
}

/** A node that hears commands. */
function aNode(world: World, self: string, bridge: { readonly ready: boolean } | null) {
  const commands = new NetworkCommands({
    haltCommands: {
      isCommand: ({ text }) => text.startsWith("!halt"),
      take: ({ text }) => {
        if (text.startsWith("!halt")) world.done.push(`${self}: ${text}`);
      },
    },
    questionCommands: {
      isCommand: ({ text, answered }) => text.startsWith("!answer") || answered === "announcement",
      take: ({ text, answered }) => {
        if (text.startsWith("!answer") || answered !== null) world.done.push(`${self}: ${text}`);
      },
    },
    sharing: {
      nodes: {
        self,
        running: () => world.running,
        isLeading: () => world.leader === self,
      },
      lines: {
        take(_channel, id) {
          if (world.isAway) return Promise.reject(new Unavailable("away"));
          const isFirst = !world.taken.has(id);
          world.taken.add(id);
          return Promise.resolve(isFirst);
        },
      },
    },
    scheduler: world.scheduler,
    log: silentLog,
  });
  commands.attach(bridge);
  return commands;
}

function said(text: string, reply?: string): HeardMessage {
  const message = {
    id: `id of ${text}`,
    channel: "#general",
    nick: "ann",
    account: "ann",
    time: 0,
  };
  return { ...message, text, ...reply === undefined ? {} : { reply } };
}

async function hear(world: World, nodes: readonly NetworkCommands[], messages: HeardMessage[]) {
  for (const message of messages) for (const node of nodes) node.take(message);
  for (let time = 0; time < 10_000; time += 250) {
    for (const node of nodes) await node.idle();
    world.scheduler.advance(250);
  }
  for (const node of nodes) await node.idle();
}

const UP = { ready: true };
const TEXTS = ["!halt @scout", "no command", "!answer 1 yes", "!halt"];
const COMMANDS = TEXTS.filter((text) => text.startsWith("!"));

Deno.test("the node that leads takes commands at once", async () => {
  const world = newWorld("a", "b", "c");
  const nodes = ["a", "b", "c"].map((name) => aNode(world, name, UP));
  world.leader = "b";
  for (const node of nodes) node.take(said("!halt"));
  for (const node of nodes) await node.idle();
  assert.deepEqual(world.done, ["b: !halt"]);
  await hear(world, nodes, [said("yes", "announcement"), said("yes to that", "talk")]);
  assert.deepEqual(world.done, ["b: !halt", "b: yes"]);
});

Deno.test("while no node leads, one of the others takes commands, in their order", async () => {
  const world = newWorld("a", "b", "c");
  const nodes = ["c", "b", "a"].map((name) => aNode(world, name, UP));
  await hear(world, nodes, TEXTS.map((text) => said(text)));
  assert.deepEqual(world.done, COMMANDS.map((text) => `a: ${text}`));
});

Deno.test("a leader that has died, and still seems to run, loses no command", async () => {
  const world = newWorld("a", "b", "c");
  world.leader = "a";
  const nodes = ["b", "c"].map((name) => aNode(world, name, UP));
  await hear(world, nodes, TEXTS.map((text) => said(text)));
  assert.deepEqual(world.done, COMMANDS.map((text) => `b: ${text}`));
});

Deno.test("a node that cannot answer on IRC leaves commands to those that can", async () => {
  const world = newWorld("a", "b");
  world.leader = "a";
  const silent = aNode(world, "a", { ready: false });
  await hear(world, [silent, aNode(world, "b", UP)], [said("!halt")]);
  assert.deepEqual(world.done, ["b: !halt"]);
  await hear(world, [silent], [said("!halt @scout")]);
  assert.deepEqual(world.done, ["b: !halt", "a: !halt @scout"]);
});

Deno.test("a halt is taken even if the database cannot say whether it was", async () => {
  const world = newWorld("a");
  world.isAway = true;
  await hear(world, [aNode(world, "a", UP)], [said("!halt")]);
  assert.deepEqual(world.done, ["a: !halt"]);
});
