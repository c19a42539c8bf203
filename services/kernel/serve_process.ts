/**
 * The main thread of a process that is a worker: it starts a thread with the rights that the worker
 * needs, gives up its own, and watches. The worker itself talks to the program that started the
 * process.
 */
import process from "node:process";
import { fileURLToPath } from "node:url";

/**
 * The first line on standard input. Each other line is the number of a call that is cancelled, or a
 * word of {@linkcode CONTROL}.
 */
export interface ProcessSetup {
  /** The address of a module that calls `serveCalls`, from this one. */
  readonly worker: string;
  readonly address: ProcessAddress;
  /** The first bytes that the worker sends, so that the other side knows it. */
  readonly secret: string;
  /** The files and folders that it may read and write. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly memoryBytes: number;
  /** Milliseconds of processor time of a call; null for no limit. */
  readonly computeMs: number | null;
  /** After how many milliseconds without a sign of life the process is ended. */
  readonly silenceMs: number;
}

/** Where the worker connects to. */
export type ProcessAddress =
  | { readonly transport: "unix"; readonly path: string }
  | { readonly transport: "tcp"; readonly hostname: string; readonly port: number };

/** To the worker: where its pool is. */
export interface ToProcessWorker {
  readonly kind: "connect";
  readonly address: ProcessAddress;
  readonly secret: string;
  /**
   * Three Int32: the number of the call that is to end, that of the call that runs, or 0, and whether
   * calls stand still.
   */
  readonly shared: SharedArrayBuffer;
  /** Whether to tell the processor time of calls. */
  readonly measures: boolean;
}

/** Whether calls stand still. */
export const CONTROL = { pause: "pause", resume: "resume" } as const;

/** Why the process ended itself: its exit code. */
export const PROCESS_END = { broken: 1, memory: 4, time: 5 } as const;

/** How often it looks what it uses, at most and at least, in milliseconds. */
const LOOK_MS = 250;
const SHORTEST_LOOK_MS = 10;

/** How many signs of life it gives in the time that it may be silent. */
const SIGNS = 4;

const ALL = ["read", "write", "net", "env", "sys", "run", "ffi"] as const;

/**
 * Serves the calls of the process that started this one with `startProcess`. Ends when that one closes
 * the standard input or is gone, when the worker breaks, and when the process has used more memory or
 * time than it may. Bytes on the standard output are signs of life.
 */
export async function serveProcess(): Promise<never> {
  // A signal to the whole group is for the program that started this one, which ends it in order.
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", () => {});
  Deno.addSignalListener("SIGINT", () => {});
  const lines = linesOf(Deno.stdin.readable);
  const first = await lines.next();
  if (first.done === true) Deno.exit(PROCESS_END.broken);
  const setup: ProcessSetup = JSON.parse(first.value);
  const shared = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  const worker = startWorker(setup);
  worker.onmessage = () => {
    for (const name of ALL) Deno.permissions.revokeSync({ name });
    const { address, secret, computeMs } = setup;
    const measures = computeMs !== null;
    const connect = { kind: "connect", address, secret, shared: shared.buffer, measures } as const;
    worker.postMessage(connect satisfies ToProcessWorker);
    watch(setup, () => Atomics.load(shared, 1));
    giveSigns(setup);
  };
  for await (const line of lines) {
    if (line === CONTROL.pause) Atomics.store(shared, 2, 1);
    else if (line === CONTROL.resume) Atomics.store(shared, 2, 0);
    else Atomics.store(shared, 0, Number(line));
    Atomics.notify(shared, 2);
  }
  Deno.exit(0);
}

function startWorker({ worker: name, address, read, write }: ProcessSetup): Worker {
  const socket = address.transport === "unix" ? [address.path] : [];
  // Some modules load when they are needed: from the tree's services, or from beside a bundle.
  const code = new URL(import.meta.url.endsWith(".ts") ? "../" : ".", import.meta.url);
  const permissions = {
    read: [...read, ...socket, fileURLToPath(code)],
    write: [...write, ...socket],
    // Libraries read variables when they are loaded. It gives both up once it is connected.
    net: true,
    env: true,
    // Whose files they are: Node's check of what may be written asks for it.
    sys: ["uid"],
    run: false,
    ffi: false,
    import: false,
  };
  const options = { type: "module", deno: { permissions } } as const;
  const worker = new Worker(new URL(name, import.meta.url), options);
  worker.onerror = (event) => {
    event.preventDefault();
    Deno.exit(PROCESS_END.broken);
  };
  return worker;
}

/**
 * Ends the process once it uses more than it may.
 *
 * @param running the number of the call that runs, or 0
 */
function watch({ memoryBytes, computeMs }: ProcessSetup, running: () => number): void {
  let seen = 0;
  let before = process.cpuUsage();
  const look = () => {
    if (Deno.memoryUsage().rss > memoryBytes) Deno.exit(PROCESS_END.memory);
    let next = LOOK_MS;
    const call = running();
    if (call !== seen) {
      seen = call;
      before = process.cpuUsage();
    }
    if (computeMs !== null && call !== 0) {
      const { user, system } = process.cpuUsage(before);
      const left = computeMs - (user + system) / 1000;
      if (left <= 0) Deno.exit(PROCESS_END.time);
      next = Math.max(SHORTEST_LOOK_MS, Math.min(left, LOOK_MS));
    }
    setTimeout(look, next);
  };
  look();
}

/** Writes a byte to the standard output from time to time, as a sign that the process runs. */
function giveSigns({ silenceMs }: ProcessSetup): void {
  const give = () => {
    try {
      Deno.stdout.writeSync(new Uint8Array(1));
    } catch {
      // The program that started this one is gone.
      Deno.exit(0);
    }
  };
  give();
  setInterval(give, silenceMs / SIGNS);
}

/** The whole lines of a stream. */
async function* linesOf(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let line = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    const [first = "", ...rest] = text.split("\n");
    line += first;
    for (const next of rest) {
      yield line;
      line = next;
    }
  }
}
