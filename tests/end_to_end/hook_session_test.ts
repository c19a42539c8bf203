/** `muster hook` acts in the session of the `muster mcp` that its client has started. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { SESSION_HEADER } from "../../services/kernel/session_header.ts";
import { cleanEnvironment, musterWords } from "../support/program.ts";
import { asked, within } from "../support/until.ts";

/** A person's home folder, and a server that notes in which session it is asked. */
class Home implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "muster-" });
  readonly #asked: (string | null)[] = [];
  readonly #processes: Deno.ChildProcess[] = [];
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    if (request.url.includes("/messages")) this.#asked.push(request.headers.get(SESSION_HEADER));
    return Response.json([]);
  });

  /** Starts a command of muster, perhaps below other words. */
  #start(words: readonly string[], folder: string): Deno.ChildProcess {
    const [program = "", ...args] = words;
    const process = new Deno.Command(program, {
      args,
      cwd: folder,
      clearEnv: true,
      env: cleanEnvironment({
        HOME: this.folder,
        XDG_STATE_HOME: join(this.folder, "state"),
        MUSTER_URL: `http://127.0.0.1:${this.#server.addr.port}`,
        MUSTER_AGENT: "scout",
        MUSTER_TOKEN: "f".repeat(40),
      }),
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    this.#processes.push(process);
    return process;
  }

  /** Starts `muster mcp` and returns its session, once it is known. */
  async mcp(...before: readonly string[]): Promise<{ session: string; pid: number }> {
    const folder = join(this.folder, "state", "muster", "sessions");
    const known = () => Array.from(Deno.readDirSync(folder), ({ name }) => name);
    Deno.mkdirSync(folder, { recursive: true });
    const earlier = new Set(known());
    this.#start([...before, ...musterWords(), "mcp"], this.folder);
    return await asked(
      async () => {
        const name = known().find((one) => !earlier.has(one));
        return name === undefined ? null : await read(join(folder, name));
      },
      (state) => state !== null,
    ) ?? assert.fail();
  }

  /** Runs the hook, and returns the session in which it asked; null for none. */
  async hook(folder: string, ...before: readonly string[]): Promise<string | null> {
    const count = this.#asked.length;
    const words = [...before, ...musterWords(), "hook", "claude", "--timeout", "10000"];
    const process = this.#start(words, folder);
    const writer = process.stdin.getWriter();
    const event = JSON.stringify({ session_id: "s", hook_event_name: "PostToolUse" });
    await writer.write(new TextEncoder().encode(event));
    await writer.close();
    await within(process.status, () => "The end of the hook");
    assert.equal(this.#asked.length, count + 1);
    return this.#asked[count] ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) {
      await process.stdin.close().catch(() => {});
      await process.status;
    }
    await this.#server.shutdown();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** A file that may not be whole yet. */
async function read(path: string): Promise<{ session: string; pid: number } | null> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch {
    return null;
  }
}

Deno.test("a hook acts in the session of its client's muster mcp", async () => {
  await using home = new Home();
  assert.equal(await home.hook(home.folder), null);
  const other = await home.mcp("bash", "-c", 'exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait', "other");
  assert.equal(await home.hook(home.folder), other.session, "the only one of this folder");
  Deno.kill(other.pid, "SIGKILL");
  assert.equal(await home.hook(home.folder), null, "it has ended without a word");

  const own = await home.mcp();
  assert.equal(await home.hook("/"), own.session, "a child of the client");
  assert.equal(await home.hook("/", "sh", "-c", '"$@"; :', "sh"), own.session, "below a shell");
});
