import assert from "node:assert/strict";
import { join } from "node:path";
import { Conflict, Unauthorized } from "../../../../services/kernel/errors.ts";
import { OPERATOR, SecretFileError } from "../../../../services/people/identity/mod.ts";
import { BY_OPERATOR, openServices, withServices } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

const HEX = /^[0-9a-f]{64}$/;
const ADDRESS = "192.0.2.1";

function bearer(token: string) {
  return { kind: "bearer", token } as const;
}

async function startAndRead(folder: string, pinnedToken?: string): Promise<string> {
  const services = await openServices(folder, pinnedToken === undefined ? {} : { pinnedToken });
  try {
    const token = await Deno.readTextFile(join(folder, "api_token"));
    assert.equal(await services.identity.authenticate(bearer(token), ADDRESS), OPERATOR);
    return token;
  } finally {
    await services.close();
  }
}

Deno.test("the first start makes an API token that only its owner can read", async () => {
  await withFolder(async (folder) => {
    assert.match(await startAndRead(folder), HEX);
    const { mode } = await Deno.stat(join(folder, "api_token"));
    assert.equal((mode ?? 0) & 0o777, 0o600);
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assert.deepEqual(names.filter((name) => name.endsWith(".tmp")), []);
  });
});

Deno.test("a later start keeps the API token and makes its file private again", async () => {
  await withFolder(async (folder) => {
    const token = await startAndRead(folder);
    const path = join(folder, "api_token");
    await Deno.chmod(path, 0o644);
    await Deno.writeTextFile(`${path}.tmp`, "left over");
    assert.equal(await startAndRead(folder), token);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  });
});

Deno.test("a start that changes no API token leaves its file alone", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "api_token");
    const token = await startAndRead(folder);
    const { ino } = await Deno.stat(path);
    await startAndRead(folder);
    await startAndRead(folder, token);
    assert.equal((await Deno.stat(path)).ino, ino);
  });
});

Deno.test("a file that holds no API token is replaced", async () => {
  for (const text of ["", "short", "g".repeat(64), "a".repeat(65), "a".repeat(100_000)]) {
    await withFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "api_token"), text);
      assert.match(await startAndRead(folder), HEX);
    });
  }
});

Deno.test("a pinned API token stands in the file and cannot be rotated", async () => {
  await withFolder(async (folder) => {
    const pinned = "chosen-by-the-operator-0123456789";
    await startAndRead(folder);
    assert.equal(await startAndRead(folder, pinned), pinned);
    const services = await openServices(folder, { pinnedToken: pinned });
    await assert.rejects(services.operatorToken.rotate(BY_OPERATOR), Conflict);
    await services.close();
  });
});

Deno.test("a weak pinned API token is refused and not shown", async () => {
  for (const pinnedToken of ["", "0123456789012345678901234567890", "with a space".repeat(4)]) {
    await withFolder(async (folder) => {
      const opening = openServices(folder, { pinnedToken });
      await assert.rejects(opening, (error) => {
        assert.ok(error instanceof SecretFileError);
        assert.ok(pinnedToken === "" || !error.message.includes(pinnedToken));
        return true;
      });
    });
  }
});

Deno.test("rotate() replaces the API token at once and ends its streams", async () => {
  await withServices(async ({ folder, identity, operatorToken }) => {
    const path = join(folder, "api_token");
    const old = await Deno.readTextFile(path);
    for (const _time of ["first", "second"]) {
      assert.equal(await identity.authenticate(bearer(old), ADDRESS), OPERATOR);
    }
    let ended = 0;
    identity.onEnded((event) => ended += event.covers(OPERATOR) ? 1 : 0);
    const rotated = await Promise.all([
      operatorToken.rotate(BY_OPERATOR),
      operatorToken.rotate(BY_OPERATOR),
    ]);
    assert.equal(ended, 2);
    assert.equal(await Deno.readTextFile(path), rotated[1]);
    assert.equal(await identity.authenticate(bearer(rotated[1]), ADDRESS), OPERATOR);
    for (const token of [old, rotated[0], "", "x"]) {
      await assert.rejects(identity.authenticate(bearer(token), ADDRESS), Unauthorized);
    }
  });
});

Deno.test("a malformed token key is refused, not replaced", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "token_key"), "damaged");
    await assert.rejects(openServices(folder), SecretFileError);
    assert.equal(await Deno.readTextFile(join(folder, "token_key")), "damaged");
  });
});
