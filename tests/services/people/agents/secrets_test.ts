import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { databaseOf, textsOf } from "../../../support/postgres.ts";
import { anAgent, BY_OPERATOR, openServices } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

const ADDRESS = "192.0.2.1";

Deno.test("no secret is in the database, in the log or in an error", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    const { admins, adminLogin, agents, identity, ircAccounts, operatorToken, tokens } = services;
    const errors: string[] = [];
    const noteError = (error: unknown) => errors.push(Deno.inspect(error));
    const password = "planted password of a person";
    const adminPassword = "planted password of an admin";
    const wrong = "planted wrong password";

    const passphrase = await anAgent(services, "coder");
    const rotated = (await agents.rotate("coder", BY_OPERATOR)).credentials.passphrase;
    await ircAccounts.create({ account: "ann", password }, BY_OPERATOR);
    await ircAccounts.create({ account: "ann", password }, BY_OPERATOR).catch(noteError);
    const { token } = await tokens.create({
      owner: "coder",
      name: "laptop",
      scopes: ["read"],
      project: null,
      expires_at: null,
    }, BY_OPERATOR);
    const first = await admins.createFirst();
    await admins.create({ username: "bob", password: adminPassword }, BY_OPERATOR);
    await admins.create({ username: "bob", password: adminPassword }, BY_OPERATOR).catch(noteError);
    const from = { address: ADDRESS, requestId: null, browser: null };
    const login = { username: "bob", password: adminPassword };
    const session = await adminLogin.logIn(login, from);
    await adminLogin.logIn({ ...login, password: wrong }, from).catch(noteError);
    await adminLogin.logIn({ ...login, username: wrong }, from).catch(noteError);
    await services.authority.verifyOperator("bob", wrong, ADDRESS);
    const apiToken = await operatorToken.rotate(BY_OPERATOR);
    const attempts = [
      { kind: "bearer", token },
      { kind: "bearer", token: wrong },
      { kind: "basic", name: "coder", password: rotated },
      { kind: "basic", name: "coder", password: wrong },
    ] as const;
    for (const attempt of attempts) await identity.authenticate(attempt, ADDRESS).catch(noteError);
    await services.authority.verify("ann", password, ADDRESS);
    assert.ok(errors.length >= 6);

    const key = await Deno.readTextFile(join(folder, "token_key"));
    const log = services.log.lines.join("\n");
    const before = await databaseBytes(folder);
    await services.close();
    const written = Buffer.concat([before, await databaseBytes(folder)]);
    assert.ok(written.includes("laptop"), "the search looks at what was written");
    const secrets = [
      ...[passphrase, rotated, password, token, apiToken, key, wrong, adminPassword],
      ...[String(first?.password), session.secret, session.csrfToken],
    ];
    for (const secret of secrets) {
      const [hex, base64] = [Buffer.from(secret, "hex"), Buffer.from(secret).toString("base64")];
      assert.ok(!written.includes(secret) && !written.includes(base64));
      assert.ok(hex.length < 16 || !written.includes(hex));
      assert.ok(!log.includes(secret) && !errors.join("\n").includes(secret));
    }
  });
});

/** The database file and its log, as they lie on the disk, or what PostgreSQL stores. */
async function databaseBytes(folder: string): Promise<Buffer> {
  const url = await databaseOf(folder);
  if (url !== "") return Buffer.from(await textsOf(url));
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
  const files = names.filter((name) => name.startsWith("muster.db"));
  return Buffer.concat(files.map((name) => Deno.readFileSync(join(folder, name))));
}
