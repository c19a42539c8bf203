import { HttpClient, IrcClient, Ledger } from "../client/mod.ts";
import { sendAtRate } from "../pace.ts";
import type { Figure } from "../scenario.ts";
import { median, percentile } from "../statistics.ts";
import { BASE, type HostedProject } from "./project.ts";

const RATE = 50;
const AIM_MS = 10;
const CHANNEL = "#bench";

/** Turns of a message alone and one beside reads: other programs' bursts then spoil one turn. */
const TURNS = 3;

/**
 * Measures a chat message from one IRC client to another, alone and while blames and searches run
 * without a pause, in turns. The figures are medians of the turns.
 */
export async function chatBesideReads(project: HostedProject, seconds: number): Promise<Figure[]> {
  const { server } = project;
  const [sender, receiver] = await enter(project);
  const say = async () => {
    const ledger = new Ledger({ receivers: 1, senders: 1, messagesPerSender: RATE * seconds });
    receiver.count(ledger, 0);
    await sendAtRate(
      RATE,
      RATE * seconds,
      () => sender.send(`PRIVMSG ${CHANNEL} :${ledger.stamp(0)}\r\n`),
    );
    await ledger.reached(RATE * seconds);
    return percentile(ledger.latencies, 0.99);
  };
  const { checkins } = JSON.parse(
    await project.ask("GET", "/api/history?path=History.md&per_page=100"),
  );
  let [blames, searches] = [0, 0];
  const beside = async () => {
    let isOver = false;
    const repeat = async (path: (index: number) => string, count: () => number) => {
      using client = await HttpClient.open(server.api);
      while (!isOver) {
        const request = {
          method: "GET",
          path: BASE + path(count()),
          token: project.token,
        } as const;
        const { status } = await client.ask(HttpClient.format(request));
        if (status !== 200) throw new Error(`A read was answered ${status}`);
      }
    };
    const blame = (index: number) =>
      `/api/blame?path=History.md&checkin=${checkins[index % checkins.length].uuid}`;
    const reads = Promise.all([
      repeat(blame, () => blames++),
      repeat((index) => `/api/search?q=case+${index}*`, () => searches++),
    ]);
    const p99 = await say();
    isOver = true;
    await reads;
    return p99;
  };
  const [alone, besideReads]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    alone.push(await say());
    besideReads.push(await beside());
  }
  sender.close();
  receiver.close();
  return [
    { name: "chat message: p99", value: median(alone), unit: "ms" },
    {
      name: "chat message beside a blame and a search: p99",
      value: median(besideReads),
      unit: "ms",
      aim: AIM_MS,
    },
    { name: "blames meanwhile", value: blames, unit: "" },
    { name: "searches meanwhile", value: searches, unit: "" },
  ];
}

async function enter({ server }: HostedProject): Promise<[IrcClient, IrcClient]> {
  const clients = [];
  for (const login of await server.createLogins(["sender", "receiver"])) {
    const client = await IrcClient.connect(server.irc, login);
    await client.join(CHANNEL);
    clients.push(client);
  }
  return clients as [IrcClient, IrcClient];
}
