import type { StrangerWishes } from "./stranger_crowd.ts";

/** Processes of strangers, so that each has enough descriptors. */
const PROCESSES = 4;

/** Distance between the first destination addresses of two processes. */
const ADDRESSES_APART = 10;

/** Strangers in separate processes. */
export class Strangers implements AsyncDisposable {
  readonly #processes: readonly Deno.ChildProcess[];

  private constructor(processes: readonly Deno.ChildProcess[]) {
    this.#processes = processes;
  }

  /** Opens connections, shared among the processes. Resolves when all are open; new ones follow. */
  static async open(wishes: Omit<StrangerWishes, "firstAddress">): Promise<Strangers> {
    const { silent, half, newPerSecond } = wishes;
    const share = {
      ...wishes,
      silent: Math.ceil(silent / PROCESSES),
      half: Math.ceil(half / PROCESSES),
      newPerSecond: newPerSecond / PROCESSES,
    };
    const processes = Array.from(
      { length: PROCESSES },
      (_, index) => spawn({ ...share, firstAddress: 1 + index * ADDRESSES_APART }),
    );
    const strangers = new Strangers(processes);
    try {
      await Promise.all(processes.map(hasOpened));
      return strangers;
    } catch (error) {
      await strangers[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Ends the processes and so their connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map(async (process) => {
      if (!process.stdin.locked) await process.stdin.close().catch(() => {});
      if (!process.stdout.locked) await process.stdout.cancel();
      await process.status;
    }));
  }
}

function spawn(wishes: StrangerWishes): Deno.ChildProcess {
  const script = new URL("./stranger_crowd.ts", import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-config", "--allow-net", script, JSON.stringify(wishes)],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
}

/** @throws Error if the process ends before */
async function hasOpened({ stdout }: Deno.ChildProcess): Promise<void> {
  const reader = stdout.getReader();
  const { done } = await reader.read();
  reader.releaseLock();
  if (done) throw new Error("A process of strangers ended");
}
