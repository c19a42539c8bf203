import assert from "node:assert/strict";
import fc from "fast-check";
import { call, registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { DocumentedAnswers } from "../support/documented_answers.ts";
import { readDocument } from "../support/api_document.ts";
import { makeProject } from "./project.ts";
import { type FuzzRequest, requestsFor } from "./requests.ts";

/** How many requests are under way at once. */
const PARALLEL = 8;

/** How long an answer may take, in milliseconds. */
const TIMEOUT = 30_000;

/** Requests that are made up at a time. */
const BATCH = 500;

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
  for (let sent = 0; sent < count; sent += BATCH) {
    const requests = requestsFor(document, credentials, await makeProject(program));
    const numRuns = Math.min(BATCH, count - sent);
    const batch = fc.sample(requests, { seed: seed + sent, numRuns });
    const rest = batch.values();
    const sender = async () => {
      for (const request of rest) {
        const status = await send(program, answers, request);
        tally.set(status, (tally.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, sender));
  }
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
  answers: DocumentedAnswers,
  request: FuzzRequest,
): Promise<number> {
  const { endpoint, method, path, headers, body } = request;
  try {
    const response = await fetch(program.api + path, {
      method,
      headers: Object.entries(headers).filter(([, value]) => value !== ""),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
      ...(body === null ? {} : { body }),
    });
    await answers.check(endpoint, method, response);
    return response.status;
  } catch (error) {
    const shown = JSON.stringify({ method, path, headers, body });
    throw new Error(`${endpoint?.path ?? "nothing"}: ${shown}`, { cause: error });
  }
}
