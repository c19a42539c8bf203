/**
 * One caller sends long runs of one character in each parameter, field and argument of the real
 * program, and in each parameter of each command of IRC. None may keep its main thread busy.
 */
import assert from "node:assert/strict";
import { COMMANDS } from "../../services/irc/commands/mod.ts";
import { type Document, endpointsOf, type Schema } from "../support/api_document.ts";
import { call, order, type Server } from "../support/api.ts";
import type { Program } from "../support/program.ts";
import { headersOf, logIn } from "../support/visiting.ts";
import { PAGES } from "../../web/table.ts";
import { TestClient } from "../services/irc/support/client.ts";

/** Characters that patterns and parsers treat in a special way. */
export const DANGEROUS = "/.[(<* \t\n\"'`#@)]>{}|\\_-~=:;,!?%&$^+0aé";

/** How long one input may keep the main thread busy, in milliseconds. */
const LIMIT = 100;

/** Longest run that is sent, in characters: a body holds one of these. */
const LONGEST = 900_000;

/** Attempts with an input that took too long: the first one loads and compiles what it needs. */
const ATTEMPTS = 3;

/** The admin who looks at the pages. */
const WALKER = { username: "walker", password: "a long password to walk with" };

/** An input, and how to send it. */
interface Input {
  readonly name: string;
  send(): Promise<void>;
}

/** What {@link walk} found. */
export interface Walked {
  readonly inputs: number;
  /** Inputs that took too long each time, with the shortest time in milliseconds. */
  readonly slow: readonly string[];
}

/**
 * Sends every input with every character.
 *
 * @param say told of each character that is done
 */
export async function walk(
  program: Program,
  characters = DANGEROUS,
  say: (character: string, inputs: number) => void = () => {},
): Promise<Walked> {
  const slow: string[] = [];
  let inputs = 0;
  await prepare(program);
  for (const character of characters) {
    const walked = await send(program, () => character);
    inputs += walked.inputs;
    slow.push(...walked.slow);
    say(character, walked.inputs);
  }
  return { inputs, slow };
}

/** Sends every input once, each with the next character. */
export async function walkOnce(program: Program): Promise<Walked> {
  let index = 0;
  await prepare(program);
  return await send(program, () => DANGEROUS.charAt(index++ % DANGEROUS.length));
}

async function send(program: Program, next: () => string): Promise<Walked> {
  const slow: string[] = [];
  let inputs = 0;
  for await (const input of everything(program, next)) {
    inputs++;
    const began = performance.now();
    await input.send();
    let least = performance.now() - began;
    // What took no longer on the clock kept nobody waiting; the clock says no more than that.
    for (let attempt = 0; attempt < ATTEMPTS && least > LIMIT; attempt++) {
      const before = await busy(program);
      await input.send();
      least = Math.min(least, await busy(program) - before);
    }
    if (least > LIMIT) slow.push(`${least} ms: ${input.name}`);
  }
  return { inputs, slow };
}

/** How long the main thread of the program has computed, in milliseconds, in steps of ten. */
async function busy({ pid }: Program): Promise<number> {
  const cat = new Deno.Command("cat", { args: [`/proc/${pid}/task/${pid}/stat`] });
  const stat = new TextDecoder().decode((await cat.output()).stdout);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function prepare(program: Program): Promise<void> {
  await order(program, "POST /v1/admins", WALKER);
  await order(program, "POST /v1/agents/register", { nick: "known", channels: ["general"] });
  await order(program, "POST /v1/projects", { slug: "known", visibility: "public" });
  await order(program, "PUT /v1/projects/known/members/known", { role: "write" });
  const base = "/projects/known/fossil/api";
  await order(program, `POST ${base}/workspaces/create`, { name: "known" });
  const content = "a line\n".repeat(2000);
  const changes = [{ path: "known", content }];
  await order(program, `POST ${base}/workspaces/known/commit`, { message: "known", changes });
  await order(program, `POST ${base}/tickets`, { title: "known" });
  await order(program, `PUT ${base}/wiki/known`, { content: "known" });
}

async function* everything(program: Program, next: () => string): AsyncGenerator<Input> {
  const document: Document = await (await fetch(`${program.api}/openapi.json`)).json();
  yield* requests(program, document, next);
  yield* pages(program, next);
  yield* calls(program, next);
  yield* lines(program, next);
}

/** A run of a character with one before and after. */
function run(character: string, length: number): string {
  return `a${character.repeat(Math.max(0, Math.min(length, LONGEST) - 2))}x`;
}

/** Requests of every endpoint, with a run in each parameter and in each field of the body. */
function* requests(server: Server, document: Document, next: () => string): Generator<Input> {
  for (const { method, path, parameters = [], requestBody } of endpointsOf(document)) {
    if (isLast(path)) continue;
    const send = async (target: string, body?: unknown) => {
      const answer = await call(server, method, target, body);
      await answer.body?.cancel();
    };
    const known = path.replaceAll(/\{\w+\}/g, "known");
    const needed = parameters.filter(({ in: place, required }) => place === "query" && required);
    const query = new URLSearchParams(needed.map(({ name }) => [name, "known"]));
    for (const { name, in: place, schema } of parameters) {
      const text = run(next(), (schema?.maxLength ?? 200) + 2);
      const encoded = encodeURIComponent(text);
      if (place === "path") {
        const target = path.replace(`{${name}}`, encoded).replaceAll(/\{\w+\}/g, "known");
        yield { name: `${method} ${path} ${name}`, send: () => send(`${target}?${query}`) };
      } else if (place === "query") {
        const whole = new URLSearchParams(query);
        whole.set(name, run(next(), schema?.maxLength ?? 200));
        yield { name: `${method} ${path} ?${name}`, send: () => send(`${known}?${whole}`) };
      }
    }
    if (method === "GET") {
      const whole = `${known}?a=${encodeURIComponent(run(next(), 10_000))}`;
      yield { name: `${method} ${path} with a long URL`, send: () => send(whole) };
    }
    const media = requestBody?.content["application/json"];
    if (media?.schema === undefined) continue;
    for (const { name, value } of bodies(document, media.schema, media.example, next)) {
      yield { name: `${method} ${path} ${name}`, send: () => send(`${known}?${query}`, value) };
    }
  }
}

/** Endpoints that would end the walk, or wait for others. */
function isLast(path: string): boolean {
  return /\/(?:rotate|drain|stream|events|move|restore|halt)$/.test(path) ||
    path.startsWith("/v1/admins") || path.includes("/pauses");
}

/** Bodies of which one field is a run, one that has an unknown name, and odd ones. */
function* bodies(
  document: Document,
  schema: Schema,
  example: unknown,
  next: () => string,
): Generator<{ name: string; value: unknown }> {
  const base = typeof example === "object" && example !== null && !Array.isArray(example)
    ? example
    : {};
  const { properties = {} } = resolved(document, schema);
  for (const [name, field] of Object.entries(properties)) {
    const { type, maxLength, items } = resolved(document, field);
    const text = run(next(), maxLength ?? LONGEST);
    yield { name, value: { ...base, [name]: text } };
    if ([type].flat().includes("array")) {
      const length = resolved(document, items ?? {}).maxLength ?? 4096;
      yield { name: `${name}[0]`, value: { ...base, [name]: [run(next(), length)] } };
      yield { name: `${name} of many`, value: { ...base, [name]: Array(400_000).fill(1) } };
      yield { name: `${name} of odd`, value: { ...base, [name]: Array(19_000).fill({}) } };
    }
  }
  yield { name: "with a long unknown field", value: { ...base, [run(next(), LONGEST)]: 1 } };
  const many = Object.fromEntries(Array.from({ length: 19_000 }, (_, n) => [next() + n, 1]));
  yield { name: "with many unknown fields", value: { ...base, ...many } };
}

function resolved(document: Document, schema: Schema): Schema {
  const { $ref, anyOf = [] } = schema;
  if ($ref !== undefined) {
    const named = document.components.schemas[$ref.replace("#/components/schemas/", "")];
    return named === undefined ? {} : resolved(document, named);
  }
  const typed = anyOf.find(({ type }) => type !== "null");
  return typed === undefined ? schema : resolved(document, typed);
}

/** Parameters that pages read, beside those of the forms that they show. */
const QUERIES =
  "after answer at before bot branch by change checkin comment context day delivery " +
  "draft everywhere file folder format from kind layout list message next owner page part path " +
  "post project q reply search show sort state status tag then to type types user version view " +
  "webhook whitespace";

/** Parameters of one request of a page, which its longest address has room for. */
const TOGETHER = 3;
const LONGEST_ADDRESS = 16_000;

/** What an address has in place of its parameters. */
const KNOWN: Readonly<Record<string, string>> = {
  slug: "known",
  checkin: "trunk",
  uuid: "trunk",
  part: "general",
};

/** Pages of the table, as an admin sees them: runs in their addresses, their queries and forms. */
async function* pages(program: Program, next: () => string): AsyncGenerator<Input> {
  const { api } = program;
  const admin = await logIn(program, WALKER.username, WALKER.password);
  const headers = headersOf(admin);
  const csrf = admin.cookies.get("muster_csrf") ?? "";
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(api + path, { redirect: "manual", headers, ...init });
    return await answer.text();
  };
  for (const route of Object.keys(PAGES)) {
    const parts = [...route.matchAll(/:(\w+)(?:\{[^}]*\})?/g)];
    const address = (runs: string | null) =>
      route.replaceAll(
        /:(\w+)(?:\{[^}]*\})?/g,
        (_, name) => name === runs ? encodeURIComponent(run(next(), 4096)) : KNOWN[name] ?? "known",
      );
    for (const [, name = ""] of parts) {
      yield { name: `GET ${route} ${name}`, send: async () => void await ask(address(name)) };
    }
    const path = address(null);
    const names = QUERIES.split(" ");
    for (let start = 0; start < names.length; start += TOGETHER) {
      const some = names.slice(start, start + TOGETHER);
      const query = new URLSearchParams(some.map((name) => [name, run(next(), 5000)]));
      const target = `${path}?${query}`.slice(0, LONGEST_ADDRESS);
      yield { name: `GET ${route}?${some.join()}`, send: async () => void await ask(target) };
    }
    if (route === "/halt" || route === "/login" || route === "/enter") continue;
    const shown = await ask(path);
    const fields = new Set([...shown.matchAll(/ name="([^"]+)"/g)].map(([, name = ""]) => name));
    const actions = new Set(
      [...shown.matchAll(/ name="action" value="([^"]+)"/g)].map(([, name = ""]) => name),
    );
    for (const action of actions) {
      for (const field of fields) {
        if (field === "action" || field === "csrf") continue;
        const body = new URLSearchParams({ csrf, action, [field]: run(next(), LONGEST / 4) });
        const send = async () => void await ask(path, { method: "POST", body });
        yield { name: `POST ${route} ${action} ${field}`, send };
      }
    }
  }
}

/** Calls of every tool, with a run in each argument. */
async function* calls({ mcp, token }: Program, next: () => string): AsyncGenerator<Input> {
  const ask = async (method: string, params: unknown) => {
    const answer = await fetch(mcp, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return await answer.json();
  };
  const { result: { tools } } = await ask("tools/list", {});
  for (const { name, inputSchema: { properties, required = [] } } of tools) {
    const known: [string, unknown][] = required.map((one: string) => [one, "known"]);
    const base: object = Object.fromEntries([["slug", "known"], ...known]);
    const call = (changes: object) => async () => {
      await ask("tools/call", { name, arguments: { ...base, ...changes } });
    };
    for (const [argument, { maxLength = LONGEST, type }] of Object.entries<Schema>(properties)) {
      if (argument === "slug" && !required.includes("slug")) continue;
      const length = argument === "wait_seconds" ? 0 : maxLength;
      yield { name: `${name} ${argument}`, send: call({ [argument]: run(next(), length) }) };
      if (type !== "array") continue;
      yield { name: `${name} ${argument}[]`, send: call({ [argument]: [run(next(), 4096)] }) };
    }
    yield { name: `${name} unknown`, send: call({ [run(next(), LONGEST)]: 1 }) };
  }
}

/** Longest line, in characters. */
const LINE = 8000;

/** Lines of every command of IRC: a run in each parameter, and lists of one name or mask. */
async function* lines({ irc }: Program, next: () => string): AsyncGenerator<Input> {
  for (const command of COMMANDS.keys()) {
    if (["QUIT", "ERROR", "RESTART", "DIE"].includes(command)) continue;
    for (const [name, parameters] of linesOf(next)) {
      const send = async () => {
        const client = TestClient.overConnection(await Deno.connect(irc));
        await client.register(`w${crypto.randomUUID().slice(0, 8)}`);
        client.send("JOIN #walk", `${command} ${parameters}`, "QUIT");
        await client.untilClosed();
        await client.close();
      };
      yield { name: `${command} ${name}`, send };
    }
  }
}

function linesOf(next: () => string): readonly (readonly [string, string])[] {
  const character = next().replace(/[^ -~]/, "*");
  const text = run(character, LINE);
  const mask = `*${"a".repeat(60)}${character}`;
  return [
    ["first", text],
    ["second", `#walk ${text}`],
    ["text", `#walk :${text}`],
    ["third", `#walk +b ${text}`],
    ["names", Array(1150).fill("#walk").join(",")],
    ["masks", Array(120).fill(mask).join(",")],
    ["nicks", `#walk ${Array(1150).fill("nobody").join(",")}`],
  ];
}

/** @throws AssertionError if an input took too long */
export function assertQuick({ inputs, slow }: Walked): void {
  assert.ok(inputs > 500, `${inputs} inputs`);
  assert.deepEqual(slow, []);
}
