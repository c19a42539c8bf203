import type { Address, EventStream } from "../client/mod.ts";

/** A bare program on this runtime: the cost that every server on it has. */
export interface Floor extends AsyncDisposable {
  /** `Deno.serve`, which takes POSTs and has a stream of them. */
  readonly api: Address;
  /** Plain TCP, which passes lines on to the clients that ask for a stream there. */
  readonly lines: Address;
  readonly pids: readonly number[];
}

/** The stream at an address of the floor. */
export function streamOfFloor(address: Address): EventStream {
  return { address, path: "/stream", token: "none" };
}

/** @throws Error if it does not listen */
export async function startFloor(): Promise<Floor> {
  const script = new URL("./floor_program.ts", import.meta.url).pathname;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-config", "--allow-net", script],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = process.stdout.getReader();
  const { value } = await reader.read();
  const [port = 0, linesPort = 0] = new TextDecoder().decode(value).split(" ").map(Number);
  const stop = async () => {
    await reader.cancel();
    process.kill("SIGKILL");
    await process.status;
  };
  if (!(port > 0 && linesPort > 0)) {
    await stop();
    throw new Error("Deno.serve does not listen");
  }
  return {
    api: { hostname: "127.0.0.1", port },
    lines: { hostname: "127.0.0.1", port: linesPort },
    pids: [process.pid],
    [Symbol.asyncDispose]: stop,
  };
}
