/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { argon2id, argon2Verify } from "hash-wasm";
import { serveCalls } from "../../kernel/serve_calls.ts";
import { giveWay } from "../../kernel/thread_priority.ts";
import type { PasswordAnswer, PasswordRequest } from "./passwords.ts";

/**
 * The number of passwords after which memory is freed: each takes 19 MiB, which the runtime frees
 * only slowly.
 */
const COLLECT_EVERY = 4;

/** Present if the runtime was started with `--expose-gc`. */
const { gc: collectGarbage } = globalThis as { gc?: () => void };

async function answer(request: PasswordRequest): Promise<PasswordAnswer> {
  const { password } = request;
  if (request.kind === "verify") {
    return { kind: "verify", matches: await argon2Verify({ password, hash: request.hash }) };
  }
  const hash = await argon2id({
    ...request.cost,
    password,
    salt: crypto.getRandomValues(new Uint8Array(16)),
    hashLength: 32,
    outputType: "encoded",
  });
  return { kind: "hash", hash };
}

serveCalls(() => {
  giveWay();
  let answered = 0;
  return async (request: PasswordRequest) => {
    try {
      return await answer(request);
    } finally {
      answered++;
      // After the answer is sent.
      if (answered % COLLECT_EVERY === 0) setTimeout(() => collectGarbage?.());
    }
  };
});
