/** Workers that are processes of this program: for code that reads what strangers wrote. */
import { timingSafeEqual } from "node:crypto";
import { getPriority, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Unavailable } from "./errors.ts";
import { CONTROL, PROCESS_END, type ProcessAddress, type ProcessSetup } from "./serve_process.ts";
import { NICER, NICEST } from "./thread_priority.ts";
import { ownProgram } from "./version.ts";
import { encodeMessage, messagesOf, sendMessage } from "./wire.ts";
import { type FromWorker, type ToWorker, Watchdog, type WorkerPort } from "./worker_pool.ts";

/** A process, and what it may do and use. */
export interface ProcessOptions {
  /** A module that calls `serveCalls`; its name ends in `_worker.ts`. */
  readonly worker: URL;
  /** The files and folders that it may read, and those that it may write. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Bytes of memory; beyond, the process ends itself. */
  readonly memoryBytes: number;
  /** How long a call may compute, in milliseconds; absent: as long as it likes. */
  readonly computeMs?: number;
  /** How much lower its priority is than this program's; 5, if absent. */
  readonly nicer?: number;
  /** After how long without a sign of life it is ended, in milliseconds; 20 s, if absent. */
  readonly silenceMs?: number;
}

/** The hidden command of the executable that calls `serveProcess`. */
export const WORKER_COMMAND = "run-worker";

/** What Deno needs to find its folder and a place for temporary files. */
const ENVIRONMENT = ["DENO_DIR", "HOME", "TMPDIR", "XDG_CACHE_HOME"];

/**
 * For glibc's allocator: what is large is given back to the system as soon as it is free, however
 * much of it there was before, and few threads have an arena of their own (mallopt(3)).
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: `${128 * 1024}`,
  MALLOC_TRIM_THRESHOLD_: `${512 * 1024}`,
};

/**
 * A process from the tree has a heap of its own, which should stay small: by its own rule V8 lets it
 * grow to four times what it holds. The executable's processes get the flags that it was built with.
 */
const V8_FLAGS =
  "--v8-flags=--expose-gc,--no-short-builtin-calls,--max-semi-space-size=4,--heap-growing-percent=50";

/** How the names of the folders of sockets begin, for each moment in which a process starts. */
const SOCKET_PREFIX = "muster-worker-";

/** After how long nobody can connect to a socket any more, in milliseconds. */
const LEFT_MS = 10 * 60_000;

/** A process may have to wait for a core on a busy machine, but not for so long. */
const SILENCE_MS = 20_000;

/** The longest message of a process, in bytes: the largest artifact, and a head. */
const MAX_MESSAGE = 512 * 1024 * 1024;

/** How many connections may be open that have not told the secret; the oldest is closed then. */
const MAX_STRANGERS = 16;

const ENDS: ReadonlyMap<number, string> = new Map([
  [PROCESS_END.memory, "It needed more memory than it may have"],
  [PROCESS_END.time, "It computed for longer than it may"],
]);

/**
 * Starts this program again, as a worker. It has no network, no environment and no files but those
 * named, and can start nothing.
 *
 * @throws {Unavailable} This program may not start others, or has no descriptors left.
 */
export function startProcess(options: ProcessOptions): ProcessPort {
  try {
    return new ProcessPort(options);
  } catch (cause) {
    throw new Unavailable("The server cannot start another process at the moment", { cause });
  }
}

/** A worker that is a process. To terminate it is to kill it. */
export class ProcessPort implements WorkerPort {
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  readonly #door: Door;
  readonly #process: Deno.ChildProcess;
  /** Stays open as long as this program lives; the process ends with it. */
  readonly #control: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #secret = crypto.randomUUID();
  #connection: Deno.Conn | null = null;
  #standsStill = false;
  #sent: Promise<void> = Promise.resolve();
  /** Messages for the process, and how many of them its socket has taken. */
  #posted = 0;
  #taken = 0;
  /** Whether it has left something in its socket that it had not read. */
  #leftUnread = false;
  #isExhausted = false;

  constructor(options: ProcessOptions) {
    const { worker, read, write, memoryBytes, computeMs = null, nicer = NICER } = options;
    const { silenceMs = SILENCE_MS } = options;
    this.#door = new Door();
    try {
      this.#process = spawn();
    } catch (error) {
      this.#door.close();
      throw error;
    }
    giveWay(this.#process, nicer);
    this.#control = this.#process.stdin.getWriter();
    const { address } = this.#door;
    const name = Deno.build.standalone ? `./${worker.pathname.split("/").at(-1)}` : worker.href;
    const limits = { memoryBytes, computeMs, silenceMs };
    const setup = { worker: name, address, secret: this.#secret, read, write, ...limits };
    this.#tell(JSON.stringify(setup satisfies ProcessSetup));
    void this.#serve();
    void this.#watch(silenceMs);
  }

  postMessage(message: ToWorker): void {
    const wire = this.#connection;
    if (wire === null) return;
    const encoded = encodeMessage(message);
    this.#posted++;
    this.#sent = this.#sent.then(async () => {
      await sendMessage(wire, encoded);
      this.#taken++;
    }).catch(() => {}); // If it has ended, its connection tells.
  }

  get hasReceived(): boolean {
    return this.#taken === this.#posted && !this.#leftUnread;
  }

  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** The id of the process. */
  get pid(): number {
    return this.#process.pid;
  }

  cancel(call: number): void {
    this.#tell(String(call));
  }

  pause(isPaused: boolean): void {
    this.#tell(isPaused ? CONTROL.pause : CONTROL.resume);
  }

  terminate(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  }

  #tell(line: string): void {
    this.#control.write(new TextEncoder().encode(`${line}\n`)).catch(() => {});
  }

  async #serve(): Promise<void> {
    let reason = "It crashed or was killed";
    try {
      await this.#receive();
    } catch (error) {
      if (error instanceof RangeError) reason = error.message;
      // So says Linux of its sockets (unix_release_sock in net/unix/af_unix.c).
      this.#leftUnread = error instanceof Deno.errors.ConnectionReset &&
        Deno.build.os === "linux" && this.#door.address.transport === "unix";
    }
    this.terminate();
    const { code } = await this.#process.status;
    this.#connection?.close();
    await this.#sent;
    await this.#control.close().catch(() => {});
    this.#isExhausted = ENDS.has(code);
    const message = this.#standsStill ? "It stands still" : ENDS.get(code) ?? reason;
    const event = new ErrorEvent("error", { message, cancelable: true });
    this.onerror?.call(this as unknown as Worker, event);
  }

  /** Ends the process if its signs of life stop: nothing else ends a call without a limit. */
  async #watch(silenceMs: number): Promise<void> {
    const onSilence = () => {
      this.#standsStill = true;
      this.terminate();
    };
    let silence: Watchdog | null = null;
    for await (const _sign of this.#process.stdout) {
      silence?.stop();
      silence = new Watchdog(silenceMs, onSilence);
    }
    silence?.stop();
  }

  async #receive(): Promise<void> {
    // A process that ends before it has connected ends the wait.
    const ended = this.#process.status.then(() => this.#door.close());
    try {
      this.#connection = await this.#door.accept(this.#secret);
    } finally {
      this.#door.close();
    }
    if (this.#connection === null) return void await ended;
    for await (const message of messagesOf(this.#connection, MAX_MESSAGE)) {
      const event = new MessageEvent("message", { data: message as FromWorker });
      this.onmessage?.call(this as unknown as Worker, event);
    }
  }
}

/** Where one process connects to: a socket in a folder of its own, or a port of this machine. */
class Door {
  readonly address: ProcessAddress;
  readonly #listener: Deno.Listener;
  readonly #folder: string | null;
  /** Connections that have not told the secret: a port is open to all programs of the machine. */
  readonly #strangers = new Set<Deno.Conn>();
  #isClosed = false;

  constructor() {
    this.#folder = makeFolder();
    try {
      if (this.#folder === null) throw new Error("There is no folder for a socket");
      const path = join(this.#folder, "worker");
      this.#listener = Deno.listen({ transport: "unix", path });
      this.address = { transport: "unix", path };
    } catch {
      // The path is too long, the folder cannot be written, or the system has no such sockets.
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      this.#listener = listener;
      this.address = { transport: "tcp", hostname: "127.0.0.1", port: listener.addr.port };
    }
  }

  /** Waits for the process, which tells the secret; null if the door is closed before. */
  async accept(secret: string): Promise<Deno.Conn | null> {
    const { promise, resolve, reject } = Promise.withResolvers<Deno.Conn | null>();
    const greet = async (connection: Deno.Conn) => {
      this.#strangers.add(connection);
      const [oldest] = this.#strangers;
      if (this.#strangers.size > MAX_STRANGERS && this.#strangers.delete(oldest!)) oldest!.close();
      if (await tells(connection, secret) && this.#strangers.delete(connection)) {
        resolve(connection);
      }
    };
    const listen = async () => {
      for await (const connection of this.#listener) void greet(connection);
      resolve(null);
    };
    listen().catch(reject);
    return await promise;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.close();
    for (const stranger of this.#strangers) stranger.close();
    if (this.#folder !== null) Deno.removeSync(this.#folder, { recursive: true });
  }
}

/** Whether the first bytes that come are the secret. */
async function tells(connection: Deno.Conn, secret: string): Promise<boolean> {
  const expected = new TextEncoder().encode(secret);
  const told = new Uint8Array(expected.length);
  try {
    for (let length = 0; length < told.length;) {
      const read = await connection.read(told.subarray(length));
      if (read === null) return false;
      length += read;
    }
  } catch {
    return false; // It was closed.
  }
  return timingSafeEqual(told, expected);
}

/** Makes a folder into which nobody else can look; null if none can be made. */
function makeFolder(): string | null {
  try {
    return Deno.makeTempDirSync({ prefix: SOCKET_PREFIX });
  } catch {
    return null;
  }
}

/** Removes the folders of sockets that servers left when they were killed while a process started. */
export async function removeLeftSockets(): Promise<void> {
  const folder = tmpdir();
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (name.startsWith(SOCKET_PREFIX)) await removeIfLeft(join(folder, name));
    }
  } catch {
    // There is no such folder, or it cannot be read.
  }
}

async function removeIfLeft(folder: string): Promise<void> {
  try {
    const { mtime } = await Deno.stat(folder);
    const age = Date.now() - (mtime?.getTime() ?? 0);
    if (age > LEFT_MS) await Deno.remove(folder, { recursive: true });
  } catch {
    // It is another user's, or is gone.
  }
}

function spawn(): Deno.ChildProcess {
  return new Deno.Command(ownProgram(), {
    args: Deno.build.standalone ? [WORKER_COMMAND] : treeArguments(),
    clearEnv: true,
    env: {
      ...ALLOCATOR,
      ...Object.fromEntries(
        ENVIRONMENT.flatMap((name) => {
          const value = Deno.env.get(name);
          return value === undefined ? [] : [[name, value]];
        }),
      ),
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

function treeArguments(): string[] {
  return [
    "run",
    "--quiet",
    "--no-prompt",
    "--no-check",
    "--unstable-worker-options",
    V8_FLAGS,
    "--allow-read",
    "--allow-write",
    "--allow-net",
    "--allow-env",
    "--allow-sys",
    fileURLToPath(new URL("./process_worker.ts", import.meta.url)),
  ];
}

/** All threads of the process get the priority, because it has only one now. */
function giveWay({ pid }: Deno.ChildProcess, nicer: number): void {
  try {
    setPriority(pid, Math.min(NICEST, getPriority(0) + nicer));
  } catch {
    // Not permitted here, or it has ended.
  }
}
