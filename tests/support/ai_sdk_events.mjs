/**
 * A client of MCP's Events extension that others wrote, and its receiver of events: what it is asked,
 * a JSON object per line of standard input, and its answer per line of standard output.
 *
 * The arguments are the module of the client, the URL of the server, and a token.
 */
import { createServer } from "node:http";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import process from "node:process";

const [, , module, url, token] = process.argv;
const { createMCPClient, experimental_createMCPEventWebhook: createWebhook } = await import(module);

const subscriptions = new Map();
const settled = (value) => Promise.resolve(value);
const store = {
  get: (key) => settled(subscriptions.get(key)),
  getById: (id) => settled([...subscriptions.values()].find((one) => one.id === id)),
  set: (one) => settled(void subscriptions.set(one.key, one)),
  update: (key, patch) =>
    settled(void subscriptions.set(key, { ...subscriptions.get(key), ...patch })),
  delete: (key) => settled(void subscriptions.delete(key)),
};

const arrivals = new EventEmitter();
const arrived = [];
const keep = (what) => (given) => {
  arrived.push({ what, ...given });
  arrivals.emit("arrival");
  return settled();
};
const webhook = createWebhook({
  store,
  onEvent: keep("event"),
  onGap: keep("gap"),
  onTerminated: keep("terminated"),
  onError: (error) => process.stderr.write(`${error}\n`),
});
const receiver = createServer(async (request, response) => {
  const answer = await webhook(
    new Request(new URL(request.url, "http://127.0.0.1"), {
      method: request.method,
      headers: request.headers,
      body: Readable.toWeb(request),
      duplex: "half",
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}).listen(0, "127.0.0.1");
await once(receiver, "listening");
const callback = `http://127.0.0.1:${receiver.address().port}/events`;

const client = await createMCPClient({
  transport: { type: "http", url, headers: { authorization: `Bearer ${token}` } },
  protocolVersionDiscovery: true,
  experimental_events: { store },
});
const { experimental_events: events } = client;

const DOES = {
  list: async () => (await events.list()).events.map(({ name }) => name),
  subscribe: ({ name, input }) =>
    events.subscribe({
      name,
      arguments: input,
      delivery: { mode: "webhook", url: callback, allowInsecureLocalhost: true },
    }),
  refresh: ({ id }) => events.refresh({ id }),
  unsubscribe: ({ id }) => events.unsubscribe({ id }),
  async next() {
    while (arrived.length === 0) await once(arrivals, "arrival");
    return arrived.shift();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { does, ...given } = JSON.parse(line);
  try {
    process.stdout.write(`${JSON.stringify({ value: await DOES[does](given) ?? null })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
  }
}
process.exit(0);
