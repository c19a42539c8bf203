/** A running program in which everybody wrote the hostile texts, wherever one can write. */
import { join } from "node:path";
import { RepositoryPool } from "../../services/engines/fossil/front/mod.ts";
import type { PooledRepository } from "../../services/engines/fossil/mod.ts";
import { call, order, registerAgent } from "./api.ts";
import { HOSTILE_LINES, HOSTILE_TEXTS } from "./hostile_texts.ts";
import { numberAt, textAt } from "./json.ts";
import type { Program } from "./program.ts";

const BASE = "/projects/hostile/fossil/api";
const STAMP = { user: "ann", date: Date.parse("2026-11-20T12:00:00Z") };

/** Where the texts are. */
export interface HostilePlaces {
  /** The check-in that added a file for each text, with the text as its content and its name. */
  readonly files: string;
  /** A check-in whose comment has every text in one line. */
  readonly comments: string;
  /** A ticket with a comment for each text. */
  readonly ticket: string;
  /** A thread of the forum with a post for each text. */
  readonly thread: string;
  /** A review with comments, and one whose diff has the texts. */
  readonly reviews: readonly number[];
  /** The titles of the wiki pages; each page has the text of the same number. */
  readonly pages: readonly string[];
}

/** A text as the name of a file: without slashes, and no longer than disks allow. */
export function fileNameOf(text: string): string {
  return text.replace(/[/\\]/g, "∕").replaceAll("\0", "␀").slice(0, 60).toWellFormed();
}

/** A text as the title of a wiki page: without controls, and at most 100 bytes. */
function titleOf(text: string): string {
  const bytes = new Uint8Array(90);
  const line = text.replace(/\p{Cc}/gu, "").replace(/ {2,}/g, " ").toWellFormed();
  const { read } = new TextEncoder().encodeInto(line, bytes);
  return line.slice(0, read).trim();
}

/** Fills a program; the project `hostile` is public. */
export async function fillHostile(program: Program): Promise<HostilePlaces> {
  await order(program, "POST /v1/projects", {
    slug: "hostile",
    name: "Hostile",
    visibility: "public",
  });
  const seeded = await seed(program);
  await registerAgent(program, "caller");
  await order(program, "PUT /v1/projects/hostile/members/caller", { role: "write" });
  const ticket = await fileTickets(program);
  const reviews = await openReviews(program);
  await nameThings(program);
  await talk(program);
  return { ...seeded, ticket, reviews };
}

/** Imports a repository of the texts: what other programs commit has no bounds of ours. */
async function seed(program: Program) {
  const path = join(program.folder, "hostile.fossil");
  const pool = new RepositoryPool({ workers: 1 });
  const repository = await pool.create(path, { admin: STAMP.user, date: STAMP.date });
  const checkins = await commitTexts(repository);
  const pages = await writePages(repository);
  const thread = await postTexts(repository);
  await pool.close();
  const response = await fetch(`${program.api}/v1/projects/hostile/repository`, {
    method: "PUT",
    headers: { authorization: `Bearer ${program.token}` },
    body: await Deno.readFile(path),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The import was refused: ${text}`);
  return { ...checkins, pages, thread };
}

/** A check-in with a file for each text, one for each comment, and one with all comments. */
async function commitTexts(repository: PooledRepository) {
  const { uuid: root } = await repository.resolveCheckin("trunk");
  const encoder = new TextEncoder();
  const write = (path: string, text: string) =>
    ({ kind: "write", path, content: encoder.encode(text) }) as const;
  const names = new Map(HOSTILE_TEXTS.map(({ text }) => [fileNameOf(text), text]));
  const files = await repository.commit({
    ...STAMP,
    parent: root,
    comment: "Files",
    anyNames: true,
    changes: [...names].map(([name, text]) => write(`d/${name}`, `${text}\n`)),
  });
  const commit = (parent: string, comment: string, index: number) =>
    repository.commit({
      user: index % 5 === 0 ? titleOf(comment) || "nobody" : STAMP.user,
      date: STAMP.date + 1000 * (index + 1),
      parent,
      comment,
      changes: [write("counter.txt", String(index))],
    });
  let parent = files;
  for (const [index, { text }] of HOSTILE_TEXTS.entries()) {
    parent = await commit(parent, text.replaceAll("\0", "␀").toWellFormed(), index);
  }
  const all = HOSTILE_LINES.map(({ text }) => text).join("\n");
  return { files, comments: await commit(parent, all, HOSTILE_TEXTS.length) };
}

/** A wiki page for each text, which is its title and its content, in both markups by turns. */
async function writePages(repository: PooledRepository): Promise<string[]> {
  const titles: string[] = [];
  for (const [index, { text }] of HOSTILE_TEXTS.entries()) {
    const title = titleOf(text) || `page ${index}`;
    const mimetype = index % 2 === 0 ? "text/x-markdown" : "text/x-fossil-wiki";
    await repository.changeWiki({ ...STAMP, title, text: storable(text), mimetype });
    titles.push(title);
  }
  return titles;
}

/** A thread with a post for each text, in the markup that its wiki page does not have. */
async function postTexts(repository: PooledRepository): Promise<string> {
  const [first] = HOSTILE_TEXTS;
  const title = titleOf(first?.text ?? "");
  const thread = await repository.post({ ...STAMP, place: { title }, text: "x" });
  for (const [index, { text }] of HOSTILE_TEXTS.entries()) {
    const mimetype = index % 2 === 0 ? "text/x-fossil-wiki" : "text/x-markdown";
    await repository.post({
      ...STAMP,
      date: STAMP.date + index,
      place: { inReplyTo: thread },
      text: storable(text),
      mimetype,
    });
  }
  return thread;
}

/** A text as an artifact can hold it. */
function storable(text: string): string {
  return text.replaceAll("\0", "␀").toWellFormed();
}

/** A ticket with every field hostile for each text, and one with all texts as comments. */
async function fileTickets(program: Program): Promise<string> {
  const file = async (title: string, more: object) => {
    const body = { title, comment: title, subsystem: title.slice(0, 60), ...more };
    const response = await call(program, "POST", `${BASE}/tickets`, body);
    const answer = await response.json();
    // The API refuses titles that pass for other lines; such a text stands in the description.
    if (response.status === 400) return null;
    if (!response.ok) throw new Error(`${title}: ${JSON.stringify(answer)}`);
    return textAt(answer, "uuid");
  };
  for (const { text } of HOSTILE_LINES) {
    await file(text, {}) ?? await file(`number ${text.length}`, { subsystem: "", comment: text });
  }
  const ticket = await file("All comments", { subsystem: "" }) ?? "";
  for (const { text } of HOSTILE_TEXTS) {
    const body = { comment: storable(text), mimetype: "text/x-markdown" };
    await order(program, `POST ${BASE}/tickets/${ticket}/comments`, body);
  }
  return ticket;
}

/** A review with a comment for each text, and one whose diff adds and deletes each of them. */
async function openReviews(program: Program): Promise<readonly number[]> {
  const open = async (body: object) =>
    numberAt(await order(program, `POST ${BASE}/reviews/create`, body), "id");
  const lines = HOSTILE_LINES.map(({ text }) => text);
  const diff = [
    "--- a/x",
    "+++ b/x",
    `@@ -1,${lines.length} +1,${lines.length} @@`,
    ...lines.map((line) => `-${line}`),
    ...lines.map((line) => `+${line}`),
  ].join("\n");
  const [title = ""] = lines;
  const sent = await open({ title, description: lines.join("\n\n"), diff, agent_id: "caller" });
  for (const { text } of HOSTILE_TEXTS) {
    await order(program, `POST ${BASE}/reviews/${sent}/comment`, { body: storable(text) });
  }
  return [sent];
}

/** Names of what admins make: tokens, bans, releases, projects. */
async function nameThings(program: Program): Promise<void> {
  for (const [index, { text }] of HOSTILE_LINES.entries()) {
    const name = text.slice(0, 100).toWellFormed();
    const named = [
      ["/v1/tokens", { owner: "caller", name, scopes: ["read"] }],
      ["/v1/irc/bans", { mask: `192.0.2.${index}`, reason: text }],
      [`${BASE}/releases`, { tag_name: `v${index}`, name, body: text }],
    ] as const;
    for (const [path, body] of named) await offer(program, path, body);
    if (index % 10 > 0) continue;
    const project = { slug: `p${index}`, name, description: text, visibility: "public" };
    await offer(program, "/v1/projects", project);
  }
}

/** Says every text in `#general` and to an agent, if the bridge lets it be said. */
async function talk(program: Program): Promise<void> {
  for (const { text } of HOSTILE_TEXTS) {
    const said = { nick: "caller", text: storable(text) };
    await offer(program, "/v1/channels/general/messages", said);
    await offer(program, "/v1/agents/caller/messages", { text: said.text });
  }
}

/** Sends what the program may refuse, but not fail on. */
async function offer(program: Program, path: string, body: object): Promise<void> {
  const response = await call(program, "POST", path, body);
  const text = await response.text();
  if (response.status >= 500) throw new Error(`${path}: ${response.status} ${text}`);
}
