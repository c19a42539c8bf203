/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { giveWay } from "../../services/kernel/thread_priority.ts";
import { type CrowdRequest, LOG_IN, LOGIN_LIMIT, type LoginAnswer } from "./login_crowd.ts";

type Person = () => Promise<LoginAnswer>;

/** A person who logs in from a local address, over a separate connection. */
function createPerson({ url, username, password }: CrowdRequest, localAddress: string): Person {
  const client = Deno.createHttpClient({ localAddress });
  return async () => {
    const startedAt = performance.now();
    const response = await fetch(url, {
      client,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username, password }),
      signal: AbortSignal.timeout(LOGIN_LIMIT * 1000),
    });
    await response.arrayBuffer();
    return { status: response.status, milliseconds: performance.now() - startedAt };
  };
}

/** The first message lists the people; each further one logs them in. */
function serve(): void {
  // Real people log in from other machines.
  giveWay();
  let people: readonly Person[] = [];
  self.onmessage = async ({ data }: MessageEvent<CrowdRequest | typeof LOG_IN>) => {
    if (data === LOG_IN) {
      self.postMessage(await Promise.all(people.map((logIn) => logIn())));
    } else {
      people = data.addresses.map((address) => createPerson(data, address));
      self.postMessage(null);
    }
  };
}

serve();
