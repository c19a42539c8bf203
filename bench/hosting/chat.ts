import { HttpClient, IrcClient, Ledger } from "../client/mod.ts";
import { sendAtRate } from "../pace.ts";
import type { Figure } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import { BASE, type HostedProject } from "./project.ts";

const RATE = 50;
const AIM_MS = 10;
const CHANNEL = "#bench";

/**
 * Measures a chat message from one IRC client to another while blames and searches run without a
 * pause.
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
  let isOver = false;
  let [blames, searches] = [0, 0];
  const repeat = async (path: (index: number) => string, count: () => number) => {
    using client = await HttpClient.open(server.api);
    while (!isOver) {
      const request = { method: "GET", path: BASE + path(count()), token: project.token } as const;
      const { status } = await client.ask(HttpClient.format(request));
      if (status !== 200) throw new Error(`A read was answered ${status}`);
    }
  };
  const alone = await say();
  const reads = Promise.all([
    repeat(
      (index) => `/api/blame?path=History.md&checkin=${checkins[index % checkins.length].uuid}`,
      () => blames++,
    ),
    repeat((index) => `/api/search?q=case+${index}*`, () => searches++),
  ]);
  const beside = await say();
  isOver = true;
  await reads;
  sender.close();
  receiver.close();
  return [
    { name: "chat message: p99", value: alone, unit: "ms" },
    {
      name: "chat message beside a blame and a search: p99",
      value: beside,
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
