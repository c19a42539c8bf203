/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import type { Part, ThreadParts, WireMessage } from "./shared_thread.ts";

/** Runs parts on the thread of a worker. */
export function serveParts<Name extends string>(parts: ThreadParts<Name>): void {
  const open = new Map<Name, ReturnType<Part>>();
  self.onmessage = ({ data: { name, message } }: MessageEvent<WireMessage<Name>>) => {
    const send = (answer: unknown) =>
      self.postMessage({ name, message: answer } satisfies WireMessage<Name>);
    const take = open.get(name) ?? parts[name](send);
    open.set(name, take);
    take(message);
    if (message === null) open.delete(name);
  };
}
