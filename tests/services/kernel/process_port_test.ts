import assert from "node:assert/strict";
import {
  type ProcessOptions,
  type ProcessPort,
  startProcess,
} from "../../../services/kernel/process_port.ts";
import { WorkerPool } from "../../../services/kernel/worker_pool.ts";
import { withFolder } from "../../support/temporary.ts";
import { asked, until } from "../../support/until.ts";
import { goneProcess } from "../../support/worker_processes.ts";
import type { TestRequest } from "./calls_worker.ts";

const MEGABYTE = 1024 * 1024;

/** Runs a test with a pool of one process. */
async function withProcess(
  { mayRepeat, onStart = () => {}, ...options }: Partial<ProcessOptions> & {
    readonly mayRepeat?: () => boolean;
    readonly onStart?: (port: ProcessPort) => void;
  },
  test: (call: WorkerPool<TestRequest, unknown>["call"]) => Promise<void>,
): Promise<void> {
  const pool = new WorkerPool<TestRequest, unknown>({
    start: () => {
      const port = startProcess({
        worker: new URL("./calls_worker.ts", import.meta.url),
        read: [],
        write: [],
        memoryBytes: 1000 * MEGABYTE,
        ...options,
      });
      onStart(port);
      return port;
    },
    setup: 10,
    ...mayRepeat === undefined ? {} : { mayRepeat },
    full: () => new RangeError("full"),
    lost: (reason) => new Error(`lost: ${reason}`),
    unusable: (reason) => new Error(`unusable: ${reason}`),
    closed: () => new Error("closed"),
  });
  try {
    await test((request, callOptions) => pool.call(request, callOptions));
  } finally {
    pool.close();
  }
}

Deno.test("a process answers, fails, tells of its progress, is cancelled, and is replaced when it has ended", async () => {
  await withProcess({}, async (call) => {
    const seen: unknown[] = [];
    assert.equal(await call(["add", 1], { onProgress: (one) => seen.push(one) }), 11);
    assert.deepEqual(seen, [1]);
    await assert.rejects(call(["fail", 2]), /^Error: not 2$/);
    assert.deepEqual(await call(["transfer", 3_000_000]), new Uint8Array(3_000_000));
    const pid = await call(["pid", 0]);
    const gone = new AbortController();
    const cancelled = call(["wait", 0], { signal: gone.signal, onProgress: () => gone.abort() });
    await assert.rejects(cancelled, { name: "AbortError" });
    assert.equal(await call(["pid", 0]), pid, "the process stays");
    const lost = assert.rejects(call(["break", 0]), /lost: It crashed or was killed/);
    assert.equal(await call(["add", 2]), 12, "the next process makes the call that waited");
    await lost;
  });
});

Deno.test("messages of a process carry every value that a thread's do", async () => {
  await withProcess({}, async (call) => {
    const values: unknown[] = [
      ...[undefined, null, true, 0.5, -7, NaN, Infinity, 10n, "", "a", "\ufeffb".repeat(5000)],
      ...["\ud800", "\ud800".repeat(5000), "\u{1f600}\n".repeat(70_000), new Map([[1, "one"]])],
      ...[[1, undefined, 3], { a: { b: [] } }, new Date(7), { "\0part": [0, 1, 0] }],
      JSON.parse('{"__proto__":{"x":1},"toJSON":2}'),
      new Uint8Array([0, 1, 255]),
      new Uint8Array(200_000).fill(7).subarray(1, 150_001),
      { text: "x".repeat(9000), bytes: [new Uint8Array(0), new Uint8Array(70_000)], n: 1 },
    ];
    for (const value of values) assert.deepEqual(await call(["echo", value]), value);
    await assert.rejects(call(["echo", () => {}]), /could not be cloned/);
    assert.equal(await call(["add", 1]), 11);
  });
});

Deno.test("a process has no rights but those for its files", async () => {
  await withFolder(async (folder) => {
    await withProcess({ read: [folder], write: [folder] }, async (call) => {
      const refused = "NotCapable";
      assert.deepEqual(await call(["rights", folder]), {
        net: refused,
        env: refused,
        run: refused,
        sys: refused,
        ffi: refused,
        more: "denied",
        otherRead: refused,
        otherWrite: refused,
        read: null,
        write: null,
      });
    });
  });
});

Deno.test("a process that needs too much memory, or computes for too long, ends alone", async () => {
  await withProcess({ memoryBytes: 250 * MEGABYTE }, async (call) => {
    const lost = assert.rejects(call(["hoard", 0]), /lost: It needed more memory than it may have/);
    assert.equal(await call(["add", 1]), 11);
    await lost;
  });
  await withProcess({ computeMs: 20 }, async (call) => {
    await assert.rejects(call(["spin", 0]), /lost: It computed for longer than it may/);
  });
});

Deno.test("a killed process fails its call alone, and a stopped one ends at the limit of its call", async () => {
  await withProcess({}, async (call) => {
    for (const [signal, options] of [["SIGKILL", {}], ["SIGSTOP", { limitMs: 50 }]] as const) {
      const pid = Number(await call(["pid", 0]));
      const ready = Promise.withResolvers<void>();
      const running = call(["wait", 0], { ...options, onProgress: () => ready.resolve() });
      const lost = assert.rejects(running, /lost: It /);
      const waiting = call(["pid", 0]);
      await ready.promise;
      Deno.kill(pid, signal);
      await lost;
      assert.notEqual(await waiting, pid);
    }
  });
});

Deno.test("a stopped process whose program is killed ends, without a word, when it goes on", async () => {
  const { killed, errors } = await leftBehind();
  assert.equal(killed, "SIGKILL");
  assert.equal(errors, "");
});

Deno.test("a call is made again that a killed process had, if it only reads, or did not get", async () => {
  await withProcess({}, async (call) => {
    for (let round = 0; round < 5; round++) {
      const pid = Number(await call(["pid", 0]));
      Deno.kill(pid, "SIGKILL");
      await goneProcess(pid);
      assert.notEqual(await call(["pid", 0]), pid);
    }
  });
  await withProcess({ mayRepeat: () => true }, async (call) => {
    const pid = Number(await call(["pid", 0]));
    let begun = Promise.withResolvers<void>();
    const gone = new AbortController();
    const { signal } = gone;
    const running = call(["wait", 0], { signal, onProgress: () => begun.resolve() });
    const ended = assert.rejects(running, { name: "AbortError" });
    await begun.promise;
    begun = Promise.withResolvers();
    Deno.kill(pid, "SIGKILL");
    await begun.promise;
    gone.abort();
    await ended;
    await assert.rejects(call(["break", 0]), /lost: It crashed or was killed/, "once");
  });
  const options = { memoryBytes: 250 * MEGABYTE, mayRepeat: () => true };
  await withProcess(options, async (call) => {
    await assert.rejects(call(["hoard", 0]), /lost: It needed more memory than it may have/);
  });
});

Deno.test("a call stands still while it is not its turn, and is cancelled all the same", async () => {
  const ports: ProcessPort[] = [];
  const onStart = (port: ProcessPort) => ports.push(port);
  await withProcess({ onStart }, async (call) => {
    await call(["add", 1]);
    const [port] = ports;
    assert.ok(port !== undefined);
    let looks = 0;
    const looked = (at: number) => until(() => looks >= at);
    const gone = new AbortController();
    const { signal } = gone;
    const ticks = call(["tick", 0], { signal, onProgress: () => looks++ });
    const ended = assert.rejects(ticks, { name: "AbortError" });
    await looked(2);
    port.pause(true);
    let before = -1;
    const standsStill = () => {
      const isSame = looks === before;
      before = looks;
      return Promise.resolve(isSame);
    };
    await asked(standsStill, (isSame) => isSame);
    port.pause(false);
    await looked(before + 2);
    port.pause(true);
    gone.abort();
    await ended;
    port.pause(false);
    assert.equal(await call(["add", 1]), 11);
  });
});

Deno.test("a stopped process ends although its call has no limit, and one that computes does not", async () => {
  await withProcess({ silenceMs: 1000, computeMs: 1500 }, async (call) => {
    await assert.rejects(call(["spin", 0]), /lost: It computed for longer than it may/);
  });
  await withProcess({ silenceMs: 1000 }, async (call) => {
    const pid = Number(await call(["pid", 0]));
    const ready = Promise.withResolvers<void>();
    const stopped = call(["wait", 0], { onProgress: () => ready.resolve() });
    const lost = assert.rejects(stopped, /lost: It stands still/);
    const waiting = call(["pid", 0]);
    await ready.promise;
    Deno.kill(pid, "SIGSTOP");
    await lost;
    assert.notEqual(await waiting, pid);
  });
});

/** Kills a program whose process stands still, lets this go on, and waits for its end. */
async function leftBehind(): Promise<{ killed: string | null; errors: string }> {
  const program = new URL("./process_leaver.ts", import.meta.url).href;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--permission-set=test", program],
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  // The process has the same standard error, so this ends with its end.
  const errors = new Response(child.stderr).text();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: pid } = await output.read();
  child.kill("SIGKILL");
  await output.cancel();
  const { signal } = await child.status;
  Deno.kill(Number(pid), "SIGCONT");
  return { killed: signal, errors: await errors };
}

/** Runs one of the programs of this folder, with a folder for temporary files; returns its output. */
async function runWith(folder: string, name: string, ...given: string[]): Promise<string> {
  const program = new URL(name, import.meta.url).href;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--permission-set=test", program, ...given],
    env: { TMPDIR: folder },
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("where no socket can be made, a process uses a port, and strangers who connect to it change nothing", async () => {
  await withFolder(async (folder) => {
    const long = `${folder}/${"long".repeat(30)}`;
    await Deno.mkdir(long);
    assert.equal(await runWith(long, "./process_caller.ts"), "11\n");
    assert.equal(await runWith(long, "./process_caller.ts", "--with-strangers"), "11\n");
    assert.deepEqual([...Deno.readDirSync(long)], []);
  });
});

Deno.test("old sockets of killed servers are removed, and nothing else", async () => {
  await withFolder(async (folder) => {
    for (const name of ["muster-worker-old", "muster-worker-new", "muster-other"]) {
      await Deno.mkdir(`${folder}/${name}`);
      await Deno.writeTextFile(`${folder}/${name}/worker`, "");
      if (name !== "muster-worker-new") await Deno.utime(`${folder}/${name}`, 0, 0);
    }
    await runWith(folder, "./socket_sweeper.ts");
    const left = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(left, ["muster-other", "muster-worker-new"]);
  });
});
