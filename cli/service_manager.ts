import { join } from "node:path";
import type { Log } from "../services/kernel/log.ts";

/** The microseconds of a second. */
const SECOND = 1_000_000;

/** The microseconds of a millisecond. */
const MILLISECOND = 1000;

/** Sends one message to the service manager. */
type Send = (message: string) => Promise<void>;

/**
 * Tells the service manager, such as systemd, when the program is ready, reloads and stops, and that
 * it still runs. Without a service manager it does nothing. No message delays the program.
 *
 * @see {@link https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html}
 */
export class ServiceManager implements Disposable {
  readonly #log: Log;
  readonly #send: Send | null;
  readonly #watchdog: number | null;
  #timer: ReturnType<typeof setInterval> | null = null;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** @param environment the variables of the process; `NOTIFY_SOCKET` names the manager's socket */
  constructor(environment: Readonly<Record<string, string>>, log: Log) {
    this.#log = log;
    this.#send = openSocket(environment["NOTIFY_SOCKET"] ?? "", log);
    this.#watchdog = this.#send === null ? null : watchdogInterval(environment);
  }

  /**
   * The program serves.
   *
   * @param status one line on its state, for `systemctl status`
   */
  ready(status: string): void {
    this.#tell(["READY=1", `STATUS=${status}`]);
    if (this.#watchdog === null || this.#timer !== null) return;
    this.#timer = setInterval(() => this.#feed(), this.#watchdog);
  }

  /** The program reads its configuration again; {@linkcode ready} ends this. */
  reloading(): void {
    // The manager ignores a time before its request. No clock of Deno has a finer unit that starts
    // with the machine, so this is the next whole second.
    const now = this.#send === null ? 0 : (Deno.osUptime() + 1) * SECOND;
    this.#tell(["RELOADING=1", `MONOTONIC_USEC=${now}`, "STATUS=Reading the configuration"]);
  }

  /** The program begins to stop. */
  stopping(): void {
    this.#tell(["STOPPING=1", "STATUS=Stopping"]);
  }

  /** Ends the signs of life. */
  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** A sign of life; none while the manager does not read. */
  #feed(): void {
    if (this.#waiting === 0) this.#tell(["WATCHDOG=1"]);
  }

  /** Sends lines after those of earlier calls. */
  #tell(lines: readonly string[]): void {
    const send = this.#send;
    if (send === null) return;
    this.#waiting++;
    this.#last = this.#last.then(() => send(lines.join("\n"))).catch((error: unknown) => {
      this.#log.warn("The service manager cannot be reached", { reason: reasonOf(error) });
    }).finally(() => this.#waiting--);
  }
}

/** The pause between signs of life, in milliseconds: half of what the manager waits for one. */
function watchdogInterval(environment: Readonly<Record<string, string>>): number | null {
  const { WATCHDOG_USEC: limit = "", WATCHDOG_PID: pid = "" } = environment;
  if (!/^[1-9]\d*$/.test(limit)) return null;
  if (pid !== "" && pid !== String(Deno.pid)) return null;
  return Math.max(1, Number(limit) / MILLISECOND / 2);
}

/**
 * Opens a socket for messages to the service manager.
 *
 * @param path the manager's socket; empty if there is none
 * @returns null without a manager, or if messages cannot reach its kind of socket
 */
function openSocket(path: string, log: Log): Send | null {
  if (path === "") return null;
  if (!path.startsWith("/")) {
    const message = "The program can notify a service manager only over a socket that is a file";
    log.warn(message, { socket: path });
    return null;
  }
  try {
    const socket = bindSomewhere();
    return async (message) => {
      await socket.send(new TextEncoder().encode(message), { transport: "unixpacket", path });
    };
  } catch (error) {
    log.warn("The service manager cannot be reached", { reason: reasonOf(error) });
    return null;
  }
}

/** A socket without a file. Deno binds each socket to a file; the socket works without it. */
function bindSomewhere(): Deno.DatagramConn {
  const folder = Deno.makeTempDirSync({ prefix: "muster-" });
  try {
    return Deno.listenDatagram({ transport: "unixpacket", path: join(folder, "notify") });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
