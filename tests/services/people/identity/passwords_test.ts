import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { isPasswordHash, Passwords } from "../../../../services/people/identity/mod.ts";
import type { WorkerPort } from "../../../../services/kernel/worker_pool.ts";
import { meanwhile } from "../../../support/until.ts";
import { THOROUGH } from "../../../support/level.ts";

/** For tests of turns: the longest queue is through in a moment. */
const CHEAP = { memorySize: 8, iterations: 1, parallelism: 1 } as const;

async function withPasswords(
  run: (passwords: Passwords) => Promise<void>,
  cost?: typeof CHEAP,
): Promise<void> {
  const passwords = new Passwords(cost);
  try {
    await run(passwords);
  } finally {
    passwords.close();
  }
}

Deno.test("a password matches its hash in any Unicode composition", THOROUGH, async () => {
  await withPasswords(async (passwords) => {
    const hash = await passwords.hash("cafe\u0301 au lait");
    assert.ok(isPasswordHash(hash));
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.equal(await passwords.verify("caf\u00e9 au lait", hash), true);
    assert.equal(await passwords.verify("cafe au lait", hash), false);
    assert.equal(await passwords.verify("", hash), false);
    assert.notEqual(await passwords.hash("cafe\u0301 au lait"), hash);
  });
});

Deno.test("verify() accepts another program's hash with other costs", async () => {
  // echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32 -e
  const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$" +
    "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  "$argon2id$v=19$m=65536,t=2,p=4$c29tc2FsdA$GpZ3sK/oH9p7VIiV56G/64Zo/8GaUw434IimaPqxwCo";
  await withPasswords(async (passwords) => {
    assert.equal(await passwords.verify("password", hash), true);
  });
});

Deno.test("verify() refuses malformed hashes", THOROUGH, async () => {
  await withPasswords(async (passwords) => {
    for (
      const hash of [null, "", "plain", "$argon2i$v=19$m=8,t=1,p=1$c29tc2FsdA$x", "$argon2id$"]
    ) {
      assert.equal(await passwords.verify("password", hash), false);
    }
  });
});

Deno.test("two passwords are hashed at a time, 64 wait, and one more is refused", async () => {
  await withPasswords(async (passwords) => {
    const outcomes = Array.from(
      { length: 67 },
      () =>
        passwords.hash("x").then(() => "hashed", (error) => {
          assert.ok(error instanceof Unavailable);
          return "refused";
        }),
    );
    assert.equal(await Promise.race(outcomes), "refused");
    passwords.close();
    assert.deepEqual(new Set(await Promise.all(outcomes)), new Set(["refused"]));
  });
});

Deno.test("in a flood of passwords from one place, those from elsewhere get their turn", async () => {
  await withPasswords(async (passwords) => {
    const hash = await passwords.hash("right");
    const settled: string[] = [];
    const check = (from: string) =>
      passwords.verify("right", hash, from).then(() => "checked", () => "refused")
        .then((outcome) => settled.push(`${from} ${outcome}`));
    const flood = Array.from({ length: 66 }, () => check("crowd"));
    const others = ["one", "two"].map(check);
    await Promise.race([...flood, ...others]);
    await Promise.resolve();
    assert.deepEqual(settled, ["crowd refused", "crowd refused"]);
    await Promise.all(others);
    const told = settled.filter((outcome) => !outcome.startsWith("crowd"));
    assert.deepEqual(told.sort(), ["one checked", "two checked"]);
    passwords.close();
    await Promise.all(flood);
  }, CHEAP);
});

Deno.test("hashing leaves the event loop free", async () => {
  await withPasswords(async (passwords) => {
    let turns = 0;
    await meanwhile(passwords.hash("x"), async () => {
      turns++;
      await new Promise((resolve) => setTimeout(resolve, 1));
    });
    assert.ok(turns > 1, `only ${turns} turns`);
  });
});

Deno.test("a worker that does not answer costs its password alone", async () => {
  let silent = 0;
  const startSilent = (): WorkerPort => {
    const port: WorkerPort = {
      onmessage: null,
      onerror: null,
      postMessage: () => void silent++,
      terminate: () => {},
    };
    queueMicrotask(() => {
      port.onmessage?.call(
        port as Worker,
        new MessageEvent("message", { data: { kind: "ready" } }),
      );
    });
    return port;
  };
  const computing = setInterval(() => {
    for (const end = performance.now() + 5; performance.now() < end;);
  });
  const passwords = new Passwords(CHEAP, { startWorker: startSilent, limitMs: 20 });
  try {
    await assert.rejects(passwords.hash("word"), Unavailable);
    await assert.rejects(passwords.hash("word"), Unavailable);
    // Each worker was opened, and got one password.
    assert.equal(silent, 4);
    assert.deepEqual(passwords.load, { running: 0, queued: 0 });
  } finally {
    clearInterval(computing);
    passwords.close();
  }
});
