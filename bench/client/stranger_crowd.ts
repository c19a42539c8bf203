/**
 * A process of strangers: connects to an HTTP and an IRC port and never sends a credential. It
 * holds silent connections and ones with half a request, writes a line once all are open, and then
 * opens new ones at a fixed rate until its standard input ends.
 */
import { delay, inParallel } from "../parallel.ts";

/** The task of one process of strangers. */
export interface StrangerWishes {
  readonly httpPort: number;
  readonly ircPort: number;
  /** Silent connections, to HTTP and IRC in turn. */
  readonly silent: number;
  /** Half-sent requests. */
  readonly half: number;
  readonly newPerSecond: number;
  /** The start of the rotation of destination addresses, so that processes do not share ports. */
  readonly firstAddress: number;
}

/** Destination addresses on loopback, so that there are enough ports. */
const ADDRESSES = 200;

const PARALLEL = 32;

const HALF_REQUEST = new TextEncoder().encode(
  "GET /v1/status HTTP/1.1\r\nHost: stranger\r\nX-Half",
);

const wishes: StrangerWishes = JSON.parse(Deno.args[0] ?? "{}");
const held: Deno.Conn[] = [];

await openAll(wishes);
await Deno.stdout.write(new TextEncoder().encode("open\n"));
let isOver = false;
Deno.stdin.read(new Uint8Array(1)).then(() => isOver = true);
const startedAt = performance.now();
for (let index = 0; !isOver; index++) {
  await delay(startedAt + index * 1000 / wishes.newPerSecond - performance.now());
  open(index);
}
Deno.exit();

async function openAll({ silent, half }: StrangerWishes): Promise<void> {
  await inParallel([...Array(silent).keys()], PARALLEL, (index) => open(index));
  await inParallel([...Array(half).keys()], PARALLEL, async (index) => {
    const conn = await open(2 * index);
    await conn?.write(HALF_REQUEST).catch(() => {});
  });
}

/** Connects to HTTP with an even index and to IRC with an odd one; null if that is refused. */
async function open(index: number): Promise<Deno.Conn | null> {
  const { httpPort, ircPort, firstAddress } = wishes;
  const hostname = `127.0.1.${firstAddress + index % ADDRESSES}`;
  try {
    const conn = await Deno.connect({ hostname, port: index % 2 === 0 ? httpPort : ircPort });
    held.push(conn);
    return conn;
  } catch {
    return null;
  }
}
