import assert from "node:assert/strict";
import { join } from "node:path";
import { call, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";

const PASSWORD = "planted-admin-password";
const WRONG = "planted-wrong-secret";

/** Every answer, except the secrets that are shown once by design. */
class Answers {
  readonly texts: string[] = [];
  readonly #program: Program;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Calls as the operator and keeps the answer. */
  async keep(method: string, path: string, body?: unknown): Promise<void> {
    await this.#note(call(this.#program, method, path, body));
  }

  /** Presents a credential and keeps the answer. */
  async present(path: string, headers: Record<string, string>, body?: unknown): Promise<void> {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    await this.#note(fetch(this.#program.api + path, { headers, ...init }));
  }

  async #note(answer: Promise<Response>): Promise<void> {
    const response = await answer;
    this.texts.push(JSON.stringify([...response.headers]), await response.text());
  }
}

/** The files of the data folder but those that hold a secret by design, as text. */
async function dataOf({ folder }: Program): Promise<string> {
  const names = Array.from(Deno.readDirSync(join(folder, "data")), ({ name }) => name);
  const files = names.filter((name) => name.startsWith("muster.db") || name.endsWith(".json"));
  const bytes = await Promise.all(files.map((name) => Deno.readFile(join(folder, "data", name))));
  return bytes.map((part) => new TextDecoder("latin1").decode(part)).join("\n");
}

async function presentOnIrc({ irc }: Program, password: string): Promise<void> {
  await using client = await IrcClient.connect(irc);
  await client.send("CAP REQ sasl", "NICK guest", "USER guest 0 * :guest", "AUTHENTICATE PLAIN");
  await client.send(`AUTHENTICATE ${btoa(`scout\0scout\0${password}`)}`);
  await client.expect(/ 90[34] /);
  await client.send("CAP END");
  await client.expect(/ (376|422) /);
  await client.send(`OPER admin ${password}`);
  await client.expect(/ (381|464) /);
}

/** Uses every kind of credential, right and wrong, at every door; gives the secrets. */
async function plant(program: Program, answers: Answers): Promise<string[]> {
  const { passphrase } = await registerAgent(program, "scout");
  const request = { owner: "scout", name: "laptop", scopes: ["read"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  await answers.keep("PUT", "/v1/admins/admin/password", { password: PASSWORD });
  await answers.keep("POST", "/v1/irc/accounts", { account: "ann", password: PASSWORD });
  await answers.keep("POST", "/v1/admins", { username: "two words", password: PASSWORD });

  const body = JSON.stringify({ username: "admin", password: PASSWORD });
  const login = await fetch(`${program.api}/login`, { method: "POST", body });
  await login.body?.cancel();
  const cookies = login.headers.getSetCookie().map((line) => line.split(/[=;]/)[1] ?? "");
  await answers.present("/session", { cookie: `muster_session=${cookies[0]}` });
  await answers.present("/logout", { cookie: `muster_session=${cookies[0]}` }, {});
  for (const secret of [WRONG, passphrase]) {
    await answers.present("/login", {}, { username: "admin", password: secret });
    await answers.present("/v1/status", { authorization: `Basic ${btoa(`scout:${secret}`)}` });
    await presentOnIrc(program, secret);
  }
  for (const secret of [WRONG, token]) {
    await answers.present("/v1/status", { authorization: `Bearer ${secret}` });
    await answers.present(`/v1/channels/no,channel/stream?token=${secret}`, {});
  }
  for (
    const path of ["agents", "tokens", "admins", "irc/accounts", "metrics", "settings", "events"]
  ) {
    await answers.keep("GET", `/v1/${path}`);
  }
  return [passphrase, token, PASSWORD, WRONG, program.token, ...cookies];
}

Deno.test("no secret appears in answers, in the log at debug level, or in clear text in the data", async () => {
  await using program = await startProgram({ environment: { MUSTER_LOG_LEVEL: "debug" } });
  const answers = new Answers(program);
  const secrets = await plant(program, answers);
  assert.equal(secrets.filter((secret) => secret.length >= 20).length, 7);
  await program.stop();
  const places = {
    answers: answers.texts.join("\n"),
    log: program.log.join("\n"),
    data: await dataOf(program),
  };
  assert.match(places.answers, /"laptop"/);
  assert.match(places.log, /\/login/);
  assert.match(places.data, /access\.refused/);
  for (const secret of secrets) {
    for (const [place, text] of Object.entries(places)) {
      assert.ok(!text.includes(secret), `${secret} stands in the ${place}`);
      assert.ok(!text.includes(btoa(secret)), `${secret} stands in the ${place}, in base64`);
    }
  }
});
