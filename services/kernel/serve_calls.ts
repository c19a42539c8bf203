/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import process from "node:process";
import type { ToProcessWorker } from "./serve_process.ts";
import { encodeMessage, messagesOf, sendMessage } from "./wire.ts";
import type { FromWorker, ToWorker } from "./worker_pool.ts";

/** The call was cancelled, and has ended before its end. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** What a call can know and tell while it runs. */
export interface ServedCall {
  /**
   * Whether nobody waits for it any more; a call that looks throws {@linkcode Cancelled}. While it is
   * not its turn, a look waits.
   */
  readonly isCancelled: boolean;
  progress(progress: unknown): void;
}

/** An answer, and what of it belongs to the caller from now on. */
export class Transferred {
  readonly answer: unknown;
  readonly transfer: Transferable[];

  constructor(answer: unknown, transfer: Transferable[]) {
    this.answer = answer;
    this.transfer = transfer;
  }
}

/** Answers a call, with {@linkcode Transferred} if something of the answer is transferred. */
export type AnswerCall<Request> = (request: Request, call: ServedCall) => unknown;

/** After how long a call that stands still looks again whether it is cancelled, in milliseconds. */
const MOST_PAUSED_MS = 50;

/** Sends a message to the pool. */
type Post = (message: FromWorker, transfer?: Transferable[]) => void | Promise<void>;

/**
 * Answers the calls of a {@linkcode WorkerPool}, on the thread of a worker, or in a process of its
 * own.
 *
 * @param open gets what the pool sets the worker up with
 */
export function serveCalls<Setup, Request>(open: (setup: Setup) => AnswerCall<Request>): void {
  let answer: AnswerCall<Request> | null = null;
  let cancelled: Int32Array = new Int32Array(1);
  /** Of a process: whether calls stand still. */
  let paused: Int32Array | null = null;
  const serve = async (message: ToWorker, post: Post) => {
    if (message.kind === "open") {
      if (message.cancelled !== null) cancelled = new Int32Array(message.cancelled);
      answer = open(message.setup as Setup);
      return;
    }
    const { number } = message;
    const call: ServedCall = {
      get isCancelled() {
        const isIt = () => Atomics.load(cancelled, 0) === number;
        while (paused?.[0] === 1 && !isIt()) Atomics.wait(paused, 0, 1, MOST_PAUSED_MS);
        return isIt();
      },
      progress: (progress) => void post({ kind: "progress", progress }),
    };
    try {
      const result = await answer?.(message.request as Request, call);
      if (result instanceof Transferred) {
        await post({ kind: "answer", answer: result.answer }, result.transfer);
      } else await post({ kind: "answer", answer: result });
    } catch (error) {
      if (error instanceof Cancelled) return await post({ kind: "cancelled" });
      await post({
        kind: "failed",
        message: error instanceof Error ? error.message : String(error),
      });
    }
  };
  const postHere: Post = (message, transfer = []) => self.postMessage(message, transfer);
  self.onmessage = async ({ data }: MessageEvent<ToWorker | ToProcessWorker>) => {
    if (data.kind !== "connect") return await serve(data, postHere);
    cancelled = new Int32Array(data.shared, 0, 1);
    const running = new Int32Array(data.shared, Int32Array.BYTES_PER_ELEMENT, 1);
    paused = new Int32Array(data.shared, 2 * Int32Array.BYTES_PER_ELEMENT, 1);
    const { connection, post } = await connect(data);
    for await (const message of messagesOf(connection, Infinity) as AsyncIterable<ToWorker>) {
      const before = data.measures ? process.cpuUsage() : undefined;
      if (message.kind === "call") Atomics.store(running, 0, message.number);
      await serve(message, (reply) => {
        if (reply.kind !== "answer" || before === undefined) return post(reply);
        const { user, system } = process.cpuUsage(before);
        return post({ ...reply, computed: (user + system) / 1000 });
      });
      Atomics.store(running, 0, 0);
    }
  };
  postHere({ kind: "ready" });
}

/** Connects to the program that started the process, and gives up what only that needs. */
async function connect({ address, secret }: ToProcessWorker) {
  const connection = address.transport === "unix"
    ? await Deno.connect(address)
    : await Deno.connect(address);
  for (const name of ["net", "env"] as const) Deno.permissions.revokeSync({ name });
  if (address.transport === "unix") {
    for (const name of ["read", "write"] as const) {
      Deno.permissions.revokeSync({ name, path: address.path });
    }
  }
  await sendMessage(connection, [new TextEncoder().encode(secret)]);
  const post: Post = (message) => sendMessage(connection, encodeMessage(message));
  await post({ kind: "ready" });
  return { connection, post };
}
