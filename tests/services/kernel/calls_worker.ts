/// <reference lib="deno.worker" />
import { Cancelled, serveCalls, Transferred } from "../../../services/kernel/serve_calls.ts";

/** What a call does, and a number to work with. */
export type TestRequest = readonly [
  kind: "add" | "fail" | "transfer" | "wait" | "break",
  number: number,
];

serveCalls((setup: number) => (request: TestRequest, call) => {
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
    case "break":
      setTimeout(() => {
        throw new Error("broken");
      });
      return new Promise(() => {});
  }
});
