import type { Address } from "../client/mod.ts";

/** A bare `Deno.serve`: the cost that every server on this runtime has. */
export interface Floor extends AsyncDisposable {
  readonly api: Address;
  readonly pids: readonly number[];
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
  const port = Number(new TextDecoder().decode(value));
  const stop = async () => {
    await reader.cancel();
    process.kill("SIGKILL");
    await process.status;
  };
  if (!Number.isInteger(port) || port === 0) {
    await stop();
    throw new Error("Deno.serve does not listen");
  }
  return {
    api: { hostname: "127.0.0.1", port },
    pids: [process.pid],
    [Symbol.asyncDispose]: stop,
  };
}
