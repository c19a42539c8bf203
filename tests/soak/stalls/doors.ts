/** Inputs for every endpoint, page, tool and command of IRC. */
import { COMMANDS } from "../../../services/engines/irc/commands/mod.ts";
import { PAGES } from "../../../web/table.ts";
import { TestClient } from "../../services/engines/irc/support/client.ts";
import {
  type Document,
  endpointsOf,
  readDocument,
  type Schema,
} from "../../support/api_document.ts";
import { TOOL_STEPS } from "../../support/tool_steps.ts";
import { stopsOf } from "../../support/tour.ts";
import { headersOf, type LoggedIn } from "../../support/visiting.ts";
import { ask, type Input, LONGEST, type Next, type Place, run } from "./walk.ts";

/** What stands in an address for its parameters, by the part before. */
function known(path: string, { filled: { project, webhook } }: Place): string {
  const values: Readonly<Record<string, string>> = {
    agents: "builder",
    channels: "general",
    messages: "builder",
    questions: "1",
    projects: "demo",
    members: "scout",
    webhooks: path.includes("/projects/") ? project.webhook : webhook,
    workspaces: "same",
    reviews: String(project.reviews.pending),
    wiki: "Home",
    checkin: project.tip,
    forum: project.thread,
    technotes: project.technote,
    tickets: project.ticket,
    fields: "team",
    status: project.tip,
    releases: "v1.0",
    assets: "demo.txt",
    archive: "trunk.zip",
    backends: "main",
  };
  return path.replaceAll(/(\w+)\/\{\w+\}/g, (_, before) => `${before}/${values[before] ?? "known"}`)
    .replaceAll(/\{\w+\}/g, "known");
}

/** Endpoints that would end the walk, or wait for others. */
function isLast(path: string): boolean {
  return /\/(?:rotate|drain|stream|events|move|accept|restore|halt|logout)$/.test(path) ||
    path.startsWith("/v1/admins") || path.includes("/pauses") || path === "/login";
}

/** Requests that take what they name away from the others. */
function endsIt(method: string, path: string): boolean {
  return method === "DELETE" || /\/(?:close|merge|land|abandon|revoke|pause|run)$/.test(path);
}

/** Requests of every endpoint, with a run in each parameter, each header and each field of the body. */
export async function* requests(place: Place, next: Next): AsyncGenerator<Input> {
  const { program } = place;
  const document = await readDocument(program.api);
  for (const { method, path, parameters = [], requestBody } of endpointsOf(document)) {
    if (isLast(path)) continue;
    const send = (target: string, body?: BodyInit) => () =>
      ask(program, target, body === undefined ? { method } : { method, body });
    const here = endsIt(method, path) ? path.replaceAll(/\{\w+\}/g, "known") : known(path, place);
    const needed = parameters.filter(({ in: at, required }) => at === "query" && required);
    const query = new URLSearchParams(needed.map(({ name }) => [name, "trunk"]));
    for (const { name, in: at, schema } of parameters) {
      const text = run(next(), Math.min((schema?.maxLength ?? 1000) + 2, 10_000));
      if (at === "path") {
        const target = known(path.replace(`{${name}}`, encodeURIComponent(text)), place);
        yield { name: `${method} ${path} ${name}`, send: send(`${target}?${query}`) };
      } else if (at === "query") {
        const whole = new URLSearchParams(query);
        whole.set(name, text.slice(0, schema?.maxLength ?? 1000));
        yield { name: `${method} ${path} ?${name}`, send: send(`${here}?${whole}`) };
      }
    }
    if (method === "GET") {
      const whole = `${here}?a=${encodeURIComponent(run(next(), 10_000))}`;
      yield { name: `${method} ${path} with a long URL`, send: send(whole) };
      continue;
    }
    const target = `${here}?${query}`;
    const [body] = Object.values(requestBody?.content ?? {});
    if (requestBody === undefined && !path.startsWith("/webhooks/")) continue;
    yield { name: `${method} ${path} as text`, send: send(target, run(next(), LONGEST)) };
    const quoted = JSON.stringify(run(next(), LONGEST));
    yield { name: `${method} ${path} as JSON text`, send: send(target, quoted) };
    if (body?.schema === undefined) continue;
    for (const { name, value } of bodies(document, body.schema, body.example, next)) {
      yield { name: `${method} ${path} ${name}`, send: send(target, JSON.stringify(value)) };
    }
  }
  yield* headers(place, next);
}

/** Headers that some door reads. */
const HEADERS =
  "accept accept-encoding accept-language authorization content-disposition content-type cookie etag " +
  "forwarded if-match if-none-match if-range last-event-id mcp-protocol-version mcp-session-id origin " +
  "range referer tus-resumable upload-metadata upload-offset user-agent x-forwarded-for " +
  "x-forwarded-host x-github-event x-request-id traceparent sec-fetch-site";

/** Addresses of the groups of endpoints that read headers of their own. */
const GROUPS = [
  "/",
  "/v1/status",
  "/v1/channels/general/messages",
  "/projects/demo/fossil",
  "/projects/demo/fossil/api/file?path=README.md",
  "/projects/demo/fossil/api/timeline",
];

function* headers({ program }: Place, next: Next): Generator<Input> {
  const authorization = `Bearer ${program.token}`;
  for (const path of GROUPS) {
    for (const name of HEADERS.split(" ")) {
      const text = run(next().replace(/[^ -~]/, "*"), 8000);
      const values = name === "authorization" ? ["Bearer ", "Basic "] : [""];
      for (const value of values) {
        const init = { headers: { authorization, [name]: value + text } };
        yield { name: `GET ${path} ${name}`, send: () => ask(program, path, init) };
      }
    }
  }
}

/** Most runs for the bodies of one endpoint: some schemas nest deeply. */
const DEEPEST = 3;

/** A value with a run in one of its texts. */
interface Variant {
  readonly name: string;
  readonly value: unknown;
}

/** Bodies of which one field is a run, one that has an unknown name, and odd ones. */
function* bodies(
  document: Document,
  schema: Schema,
  example: unknown,
  next: Next,
): Generator<Variant> {
  const base = isObject(example) ? example : {};
  yield* variants(document, schema, base, next, DEEPEST);
  yield { name: "with a long unknown field", value: { ...base, [run(next(), LONGEST)]: 1 } };
  const many = Object.fromEntries(Array.from({ length: 19_000 }, (_, n) => [next() + n, 1]));
  yield { name: "with many unknown fields", value: { ...base, ...many } };
}

/** An example with a run in place of each text, one after the other, at each depth. */
function* variants(
  document: Document,
  schema: Schema,
  example: unknown,
  next: Next,
  depth: number,
): Generator<Variant> {
  const { type, maxLength, items, properties } = resolved(document, schema);
  const types = [type].flat();
  yield { name: "", value: run(next(), maxLength ?? LONGEST) };
  if (types.includes("array") && items !== undefined) {
    yield { name: "of many", value: Array(400_000).fill(1) };
    yield { name: "of odd", value: Array(19_000).fill({}) };
    const [first] = Array.isArray(example) ? example : [];
    yield { name: "of runs", value: Array(20).fill(run(next(), LONGEST / 30)) };
    if (depth === 0) return;
    for (const { name, value } of variants(document, items, first, next, depth - 1)) {
      yield { name: `[]${name}`, value: [value] };
    }
  } else if (properties !== undefined && depth > 0) {
    const base = isObject(example) ? example : {};
    for (const [field, own] of Object.entries(properties)) {
      for (const { name, value } of variants(document, own, base[field], next, depth - 1)) {
        yield { name: `.${field}${name}`, value: { ...base, [field]: value } };
      }
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function resolved(document: Document | null, schema: Schema): Schema {
  const { $ref, anyOf = [] } = schema;
  if ($ref !== undefined) {
    const named = document?.components.schemas[$ref.replace("#/components/schemas/", "")];
    return named === undefined ? {} : resolved(document, named);
  }
  const typed = anyOf.find(({ type }) => type !== "null");
  return typed === undefined ? schema : resolved(document, typed);
}

/** Parameters of one request of a page, which its longest address has room for. */
const TOGETHER = 8;

/** The parameters that pages read, from their sources. */
async function queriesOfPages(folder = "web"): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) { for (const one of await queriesOfPages(path)) names.add(one); }
    else if (/\.tsx?$/.test(name)) {
      const source = await Deno.readTextFile(path);
      for (const [, one = ""] of source.matchAll(/\bquery\("(\w+)"/g)) names.add(one);
    }
  }
  return names;
}

/** Pages of the table: runs in their addresses, queries and forms, for each kind of visitor. */
export async function* pages(place: Place, next: Next): AsyncGenerator<Input> {
  const { program, filled } = place;
  const { admin, person } = filled;
  const queries = [...await queriesOfPages()];
  for (const route of Object.keys(PAGES)) {
    for (const [, name = ""] of route.matchAll(/:(\w+)/g)) {
      const path = known(
        route.replaceAll(
          /:(\w+)(?:\{[^}]*\})?/g,
          (_, one) => one === name ? encodeURIComponent(run(next(), 4096)) : `{${one}}`,
        ),
        place,
      );
      const headers = headersOf(admin);
      yield { name: `GET ${route} ${name}`, send: () => ask(program, path, { headers }) };
    }
  }
  const visitors: readonly (readonly ["admin" | "person" | "guest", LoggedIn | null])[] = [
    ["admin", admin],
    ["person", person],
    ["guest", null],
  ];
  for (const [looker, who] of visitors) {
    const headers = who === null ? { accept: "text/html" } : headersOf(who);
    for (const { path } of stopsOf(filled)[looker]) {
      const [here = "", own = ""] = path.split("?");
      for (let start = 0; start < queries.length; start += TOGETHER) {
        const some = queries.slice(start, start + TOGETHER);
        const query = new URLSearchParams(own);
        for (const name of some) query.set(name, run(next(), 1000));
        const target = `${here}?${query}`.slice(0, 16_000);
        yield { name: `GET ${path} ${some.join()}`, send: () => ask(program, target, { headers }) };
      }
      if (who !== null) yield* forms(place, next, { who, path });
    }
  }
}

/** What forms do that would end the walk. */
const ENDING = /delete|remove|leave|revoke|halt|archive|abandon|rotate|log.?out|close|purge/i;

/** The forms that a page shows, with a run in each field. */
async function* forms(
  { program }: Place,
  next: Next,
  { who, path }: { readonly who: LoggedIn; readonly path: string },
): AsyncGenerator<Input> {
  const headers = headersOf(who);
  const page = await (await fetch(program.api + path, { headers })).text();
  for (const [, attributes = "", inside = ""] of page.matchAll(/<form([^>]*)>([^]*?)<\/form>/g)) {
    if (!attributes.includes('method="post"')) continue;
    const to = / action="([^"]*)"/.exec(attributes)?.[1]?.replaceAll("&amp;", "&") ?? path;
    const fields = fieldsOf(inside);
    const action = fields.get("action") ?? "";
    if (ENDING.test(action) || to === "/enter" || to === "/halt") continue;
    for (const field of fields.keys()) {
      if (field === "action" || field === "csrf") continue;
      for (const length of [200, LONGEST / 4]) {
        const body = new URLSearchParams([...fields]);
        body.set(field, run(next(), length));
        const send = () => ask(program, to, { method: "POST", headers, body });
        yield { name: `POST ${path} ${action} ${field} of ${length}`, send };
      }
    }
  }
}

/** The fields of a form with their values. */
function fieldsOf(form: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [tag] of form.matchAll(/<(?:input|textarea|select|button)\b[^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(tag)?.[1];
    const value = / value="([^"]*)"/.exec(tag)?.[1] ?? "known";
    if (name !== undefined && !fields.has(name)) fields.set(name, value);
  }
  return fields;
}

/** Calls of every tool, with a run in each argument. */
export async function* calls({ program, filled }: Place, next: Next): AsyncGenerator<Input> {
  const { mcp, token } = program;
  const { project: { ticket, tip, reviews } } = filled;
  const state = { run: "x", ticket, message: "1", question: 1, review: reviews.pending, tip };
  const steps = new Map(TOOL_STEPS.map(({ tool, input }) => [tool, input(state)]));
  const post = async (method: string, params: unknown) => {
    const answer = await fetch(`${mcp}?tools=all`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return await answer.json();
  };
  const { result: { tools } } = await post("tools/list", {});
  const send = (method: string, params: unknown) => async () => void await post(method, params);
  for (const { name, inputSchema } of tools) {
    const own = steps.get(name) ?? {};
    const base = name === "commit_files" ? { ...own, workspace: "same" } : own;
    const call = (input: object) => send("tools/call", { name, arguments: input });
    for (const { name: field, value } of variants(NO_DOCUMENT, inputSchema, base, next, DEEPEST)) {
      if (isObject(value)) yield { name: `${name} ${field}`, send: call(value) };
    }
    yield { name: `${name} unknown`, send: call({ ...base, [run(next(), LONGEST)]: 1 }) };
  }
  yield { name: "an unknown tool", send: send("tools/call", { name: run(next(), LONGEST) }) };
  yield { name: "an unknown method", send: send(run(next(), LONGEST), {}) };
  for (const method of ["resources/read", "prompts/get", "completion/complete", "initialize"]) {
    const params = { name: run(next(), 1000), uri: run(next(), LONGEST) };
    yield { name: method, send: send(method, params) };
  }
}

/** Schemas of tools have no references. */
const NO_DOCUMENT: Document = { paths: {}, components: { schemas: {} } };

/** Longest line, in characters. */
const LINE = 8000;

/** Lines of every command of IRC: a run in each parameter, and lists of one name or mask. */
export async function* lines({ program }: Place, next: Next): AsyncGenerator<Input> {
  const { irc } = program;
  const one = (name: string, text: string): Input => ({
    name,
    send: async () => {
      const client = TestClient.overConnection(await Deno.connect(irc));
      await client.register(`w${crypto.randomUUID().slice(0, 8)}`);
      client.send("JOIN #walk", text, "QUIT");
      await client.untilClosed();
      await client.close();
    },
  });
  for (const command of COMMANDS.keys()) {
    if (["QUIT", "ERROR", "RESTART", "DIE"].includes(command)) continue;
    for (const [name, parameters] of parametersOf(next)) {
      yield one(`${command} ${name}`, `${command} ${parameters}`);
    }
  }
  for (const service of ["NickServ", "ChanServ", "muster"]) {
    for (const command of SERVICE_COMMANDS) {
      for (const before of ["", "#walk ", "#walk known "]) {
        const text = run(ofLine(next), LINE);
        const line = `PRIVMSG ${service} :${command} ${before}${text}`;
        yield one(`${service} ${command} ${before}`, line);
      }
    }
  }
  yield one("a tag", `@+a=${run(ofLine(next), 4000).replaceAll(" ", "_")} PRIVMSG #walk :x`);
  yield one("a command", run(ofLine(next), LINE));
}

/** What NickServ, ChanServ and the bots in a channel know. */
const SERVICE_COMMANDS = [
  ..."HELP REGISTER IDENTIFY DROP SET INFO GHOST REGAIN RELEASE GROUP CERT ACCESS FLAGS".split(" "),
  ..."OP DEOP VOICE DEVOICE TOPIC KICK BAN UNBAN INVITE AMODE TRANSFER ask answer".split(" "),
];

function ofLine(next: Next): string {
  return next().replace(/[^ -~]/, "*");
}

function parametersOf(next: Next): readonly (readonly [string, string])[] {
  const character = ofLine(next);
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
