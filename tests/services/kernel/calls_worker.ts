/// <reference lib="deno.worker" />
import { Cancelled, serveCalls, Transferred } from "../../../services/kernel/serve_calls.ts";

/** What a call does, and a number to work with. */
export type TestRequest =
  | readonly [
    kind: "add" | "fail" | "transfer" | "wait" | "tick" | "break" | "pid" | "hoard" | "spin",
    number: number,
  ]
  | readonly [kind: "echo", value: unknown]
  | readonly [kind: "rights", path: string];

/** Tries what needs a right; returns the name of the error, or null. */
function refusalOf(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

/** What a worker without rights is refused, and what it may do with a file. */
function rights(path: string): Record<string, string | null> {
  return {
    net: refusalOf(() => Deno.listen({ port: 0 }).close()),
    env: refusalOf(() => Deno.env.get("HOME")),
    run: refusalOf(() => new Deno.Command(Deno.execPath()).spawn()),
    sys: refusalOf(() => Deno.hostname()),
    ffi: refusalOf(() => Deno.dlopen("/lib/none.so", {})),
    more: Deno.permissions.requestSync({ name: "net" }).state,
    otherRead: refusalOf(() => Deno.readTextFileSync(new URL(import.meta.url))),
    otherWrite: refusalOf(() => Deno.writeTextFileSync(`${path}/../other`, "")),
    read: refusalOf(() => [...Deno.readDirSync(path)]),
    write: refusalOf(() => Deno.writeTextFileSync(`${path}/file`, "")),
  };
}

/** Needs ever more memory. */
function hoard(): never {
  const hoarded: number[][] = [];
  for (;;) hoarded.push(new Array(100_000).fill(hoarded.length));
}

serveCalls((setup: number) => (request: TestRequest, call) => {
  switch (request[0]) {
    case "echo":
      return request[1];
    case "rights":
      return rights(request[1]);
    case "pid":
      return Deno.pid;
    case "hoard":
      return hoard();
    case "spin":
      for (;;);
  }
  const [kind, number] = request;
  switch (kind) {
    case "add":
      call.progress(number);
      return setup + number;
    case "fail":
      throw new Error(`not ${number}`);
    case "transfer": {
      const bytes = new Uint8Array(number);
      return new Transferred(bytes, [bytes.buffer]);
    }
    case "wait":
      call.progress("waits");
      while (!call.isCancelled);
      throw new Cancelled();
    case "tick":
      while (!call.isCancelled) {
        call.progress("ticks");
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
      throw new Cancelled();
    case "break":
      setTimeout(() => {
        throw new Error("broken");
      });
      return new Promise(() => {});
  }
});
