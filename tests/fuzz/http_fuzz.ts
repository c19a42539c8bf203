import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { call, registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { DocumentedAnswers } from "../support/documented_answers.ts";
import { readDocument } from "../support/api_document.ts";
import { makeProject } from "./project.ts";
import { type FuzzRequest, requestsFor } from "./requests.ts";
import { Sender } from "./sender.ts";

/** How many requests are under way at once. */
const PARALLEL = 8;

/** Requests that are made up at a time. */
const BATCH = 500;

/** How long a program may take to end after it broke off an answer, in milliseconds. */
const ENDING_LIMIT = 5_000;

/** How many lines of the log a failure shows. */
const LOG_LINES = 40;

/** Stands in the environment, and nowhere else. */
const PLANTED_KEY = "a key that nobody may ever read";

/** How often each status was answered. */
export type Tally = ReadonlyMap<number, number>;

/**
 * Sends random requests, made from its own OpenAPI document, to the real program. The same seed
 * gives the same requests.
 *
 * @throws AssertionError if an answer is not as documented; it shows the request
 */
export async function fuzzHttp(count: number, seed: number): Promise<Tally> {
  await using program = await startProgram({
    environment: {
      // A token that is pinned is not replaced by a request that happens to ask for it.
      MUSTER_API_TOKEN: "0123456789abcdef".repeat(4),
      MUSTER_TRUSTED_PROXIES: '["127.0.0.1"]',
      FUZZ_KEY: PLANTED_KEY,
    },
  });
  const document = await readDocument(program.api);
  const credentials = await credentialsOf(program);
  const answers = new DocumentedAnswers(document, [PLANTED_KEY, program.token]);
  const tally = new Map<number, number>();
  using kept = new Sender(program);
  for (let sent = 0; sent < count; sent += BATCH) {
    const requests = requestsFor(document, credentials, await makeProject(program));
    const numRuns = Math.min(BATCH, count - sent);
    const batch = fc.sample(requests, { seed: seed + sent, numRuns });
    const rest = batch.values();
    const sender = async () => {
      for (const request of rest) {
        const status = await send(program, { kept, answers, request });
        tally.set(status, (tally.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, sender));
  }
  const closed = await kept.closedWaiting();
  assert.ok(kept.again <= closed, `${kept.again} connections broke, and ${closed} waited too long`);
  assert.equal(await program.stop(), 0);
  const unwanted = ["on a bug", PLANTED_KEY, ...secretsIn(credentials)];
  const lines = program.log.filter((line) => unwanted.some((part) => line.includes(part)));
  assert.deepEqual(lines, []);
  return tally;
}

async function credentialsOf(program: Program): Promise<string[]> {
  const { passphrase } = await registerAgent(program, "fuzzer");
  const issued = await call(program, "POST", "/v1/tokens", {
    owner: "fuzzer",
    name: "fuzz",
    scopes: ["read", "write"],
  });
  const { token } = await issued.json();
  return [
    `Bearer ${program.token}`,
    `Bearer ${token}`,
    `Basic ${btoa(`fuzzer:${passphrase}`)}`,
    "",
  ];
}

/** What stands after the scheme of a header. */
function secretsIn(credentials: readonly string[]): string[] {
  return credentials.flatMap((credential) => credential.split(" ").slice(1));
}

async function send(
  program: Program,
  { kept, answers, request }: {
    readonly kept: Sender;
    readonly answers: DocumentedAnswers;
    readonly request: FuzzRequest;
  },
): Promise<number> {
  const { endpoint, method, path, headers, body } = request;
  try {
    const response = await kept.send(path, {
      method,
      headers: Object.entries(headers).filter(([, value]) => value !== ""),
      ...(body === null ? {} : { body }),
    });
    await answers.check(endpoint, method, response);
    return response.status;
  } catch (error) {
    const shown = JSON.stringify({ method, path, headers, body });
    const state = await describeState(program);
    throw new Error(`${endpoint?.path ?? "nothing"}: ${shown}\n${state}`, { cause: error });
  }
}

/** Whether a program still runs, its exit code if not, and the end of its log. */
async function describeState({ ended, log }: Program): Promise<string> {
  const code = await Promise.race([ended, delay(ENDING_LIMIT, null, { ref: false })]);
  const state = code === null ? "The program runs" : `The program ended with code ${code}`;
  return [`${state}. The end of its log:`, ...log.slice(-LOG_LINES)].join("\n");
}
