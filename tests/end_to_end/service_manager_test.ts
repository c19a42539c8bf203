/** What a service manager, such as systemd, learns from the program: the protocol of sd_notify. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder, writeFile } from "../support/temporary.ts";
import { within } from "../support/until.ts";

/** The socket of a service manager, and the messages that arrive there. */
class Manager implements Disposable {
  readonly path: string;
  readonly #socket: Deno.DatagramConn;
  /** The lines of all messages so far. */
  readonly lines: string[] = [];

  constructor(folder: string) {
    this.path = join(folder, "notify.sock");
    this.#socket = Deno.listenDatagram({ transport: "unixpacket", path: this.path });
  }

  /** Reads messages up to one with a line that matches; resolves with that line. */
  async until(pattern: RegExp): Promise<string> {
    for (;;) {
      const [message] = await within(this.#socket.receive(), () => `${pattern}`);
      const lines = new TextDecoder().decode(message).split("\n");
      this.lines.push(...lines);
      const found = lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

/** Starts the program for a service manager. */
function startFor(
  manager: Manager,
  folder: string,
  environment: Record<string, string> = {},
): Promise<Program> {
  return startProgram({ folder, environment: { NOTIFY_SOCKET: manager.path, ...environment } });
}

Deno.test("the service manager learns of the start, of each reload and of the stop", async () => {
  await withFolder(async (folder) => {
    using manager = new Manager(folder);
    await using program = await startFor(manager, folder);
    await manager.until(/^STATUS=Serving$/);
    assert.deepEqual(manager.lines, ["READY=1", "STATUS=Serving"]);

    const before = Deno.osUptime() * 1_000_000;
    await writeFile(folder, "config.yaml", "irc: { motd: second, network_name: other }\n");
    Deno.kill(program.pid, "SIGHUP");
    const [, time] = (await manager.until(/^MONOTONIC_USEC=/)).split("=");
    assert.ok(Number(time) > before, `${time} is not after ${before}`);
    await manager.until(/^STATUS=Serving; some changes need a restart$/);
    assert.deepEqual(manager.lines.slice(2, 3), ["RELOADING=1"]);
    assert.deepEqual(manager.lines.slice(5, 6), ["READY=1"]);

    await writeFile(folder, "config.yaml", "irc: { mtod: third }\n");
    Deno.kill(program.pid, "SIGHUP");
    await manager.until(/^STATUS=Serving; the changed configuration is not valid: see the log$/);

    const [code] = await Promise.all([program.stop(), manager.until(/^STOPPING=1$/)]);
    assert.equal(code, 0);
    const words = manager.lines.map((line) => line.split("=", 1)[0]);
    assert.equal(words.includes("WATCHDOG"), false);
  });
});

Deno.test("the service manager gets signs of life if its watchdog wants them", async () => {
  await withFolder(async (folder) => {
    using manager = new Manager(folder);
    await using program = await startFor(manager, folder, { WATCHDOG_USEC: "20000" });
    await manager.until(/^READY=1$/);
    for (let sign = 0; sign < 3; sign++) await manager.until(/^WATCHDOG=1$/);
    const [code] = await Promise.all([program.stop(), manager.until(/^STOPPING=1$/)]);
    assert.equal(code, 0);
  });
});

Deno.test("the watchdog of another process gets no signs of life", async () => {
  await withFolder(async (folder) => {
    using manager = new Manager(folder);
    const environment = { WATCHDOG_USEC: "1000", WATCHDOG_PID: String(Deno.pid) };
    await using program = await startFor(manager, folder, environment);
    await Promise.all([program.stop(), manager.until(/^STOPPING=1$/)]);
    assert.equal(manager.lines.includes("WATCHDOG=1"), false);
  });
});

Deno.test("the program serves without the service manager that the environment names", async () => {
  for (const socket of ["/nowhere/notify.sock", "@muster-nowhere"]) {
    await using program = await startProgram({ environment: { NOTIFY_SOCKET: socket } });
    const response = await fetch(`${program.api}/healthz`);
    await response.body?.cancel();
    assert.equal(response.status, 200);
    assert.equal(await program.stop(), 0);
    assert.ok(program.log.some((line) => line.includes("service manager")), program.log.join("\n"));
  }
});
