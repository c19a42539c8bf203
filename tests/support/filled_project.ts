/** A project in which much has happened, and one in which nothing has. */
import { join } from "node:path";
import { RepositoryPool } from "../../services/engines/fossil/front/mod.ts";
import type { PooledRepository } from "../../services/engines/fossil/mod.ts";
import { order, type Server } from "./api.ts";
import { type CheckPlaces, DEFINITION, fillChecks } from "./filled_checks.ts";
import { numberAt, textAt } from "./json.ts";
import type { Program } from "./program.ts";

const BASE = "/projects/demo/fossil/api";

/** The ids of the project `demo`. */
export interface ProjectPlaces {
  /** The tip of trunk, and the check-in before it. */
  readonly tip: string;
  readonly parent: string;
  /** A ticket with comments and a claim. */
  readonly ticket: string;
  readonly technote: string;
  readonly thread: string;
  readonly reviews: {
    /** Two rounds, with comments on lines, in the landing queue. */
    readonly landing: number;
    /** Waits for its first verdict. */
    readonly pending: number;
    readonly merged: number;
    /** A diff without a workspace, closed. */
    readonly closed: number;
  };
  /** A webhook of the project. */
  readonly webhook: string;
  readonly checks: CheckPlaces;
}

/** A repository with branches, all kinds of files and of artifacts. */
interface SeededRepository {
  readonly bytes: Uint8Array;
  readonly thread: string;
}

const README = `# Demo

A project for tests. See the [guide](docs/guide.md) and [Home].

![The logo](docs/logo.svg) ![Elsewhere](https://example.test/a.png)

## Use

| Option    | Meaning       |
| --------- | ------------- |
| \`--fast\` | Skip the rest |

\`\`\`ts
const answer: number = 42; // the answer
\`\`\`

- [x] done
- [ ] open
`;

const MAIN = (word: string) =>
  `/** Says ${word}. */\nexport function main(): void {\n  console.log("${word}");\n}\n`;

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle r="9"/></svg>';

/** A picture of one pixel. */
const PIXEL = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  ),
  (character) => character.charCodeAt(0),
);

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  ".muster/checks.yaml": DEFINITION,
  "README.md": README,
  "docs/guide.md": "# Guide\n\n## Start\n\nStart here.\n",
  "docs/logo.svg": LOGO,
  "docs/pixel.png": PIXEL,
  "docs/page.wiki": "<h1>Old</h1> See [Home].\n",
  "src/main.ts": MAIN("hello"),
  "src/long.ts": Array.from({ length: 1100 }, (_, i) => `const line${i + 1} = ${i + 1};\n`).join(
    "",
  ),
  "src/wide.txt": `${"wide ".repeat(300)}\n`,
  "src/empty.txt": "",
  "src/data.bin": Uint8Array.of(0, 1, 2, 0),
};

async function seed(program: Program): Promise<SeededRepository> {
  const path = join(program.folder, "seed.fossil");
  const stamp = { user: "ann", date: Date.parse("2026-11-20T12:00:00Z") };
  const pool = new RepositoryPool({ workers: 1 });
  const repository = await pool.create(path, { admin: stamp.user, date: stamp.date });
  await commitAll(repository);
  await repository.changeTechnote({
    ...stamp,
    eventDate: stamp.date,
    comment: "Release day",
    text: "We released **1.0**",
    mimetype: "text/x-markdown",
    tags: ["news"],
  });
  const thread = await postAll(repository);
  await repository.changeWiki({ ...stamp, title: "Home", text: "Welcome to the *demo*" });
  await repository.attach({
    ...stamp,
    target: "Home",
    name: "logo.png",
    content: PIXEL,
  });
  await pool.close();
  return { bytes: await Deno.readFile(path), thread };
}

/** Trunk with three check-ins, a branch that is merged and one that is open. */
async function commitAll(repository: PooledRepository): Promise<void> {
  const { uuid: root } = await repository.resolveCheckin("trunk");
  const commit = (parent: string, hour: number, more: {
    readonly comment: string;
    readonly files: Readonly<Record<string, string | Uint8Array>>;
    readonly branch?: string;
    readonly merged?: readonly string[];
  }) => {
    const { comment, files, ...options } = more;
    return repository.commit({
      ...options,
      user: hour % 2 === 0 ? "ann" : "bob",
      date: Date.parse("2026-11-20T12:00:00Z") + hour * 9 * 3600_000,
      parent,
      comment,
      changes: Object.entries(files).map(([path, content]) => ({
        kind: "write",
        path,
        content: typeof content === "string" ? new TextEncoder().encode(content) : content,
      })),
    });
  };
  const first = await commit(root, 1, { comment: "Begin\n\nWith all files.", files: FILES });
  const side = await commit(first, 2, {
    comment: "Greet the world",
    branch: "greeting",
    files: { "src/main.ts": MAIN("hello, world") },
  });
  const second = await commit(first, 3, {
    comment: "Explain more",
    files: { "docs/guide.md": "# Guide\n\n## Start\n\nStart here, and read on.\n" },
  });
  await commit(second, 4, { comment: "Merge the greeting", merged: [side], files: {} });
  await commit(second, 5, {
    comment: "Try something",
    branch: "experiment",
    files: { "src/try.ts": MAIN("perhaps") },
  });
}

/** A thread of the forum with an answer. */
async function postAll(repository: PooledRepository): Promise<string> {
  const stamp = { user: "ann", date: Date.parse("2026-11-21T12:00:00Z") };
  const mimetype = "text/x-markdown";
  const question = await repository.post({
    ...stamp,
    place: { title: "How does it start?" },
    text: "I read the *guide*.",
    mimetype,
  });
  await repository.post({
    user: "bob",
    date: stamp.date + 60_000,
    place: { inReplyTo: question },
    text: "With `main`.",
    mimetype,
  });
  return question;
}

/** The people and agents of a project: `scout` and `builder` write, the admin does everything. */
interface Members {
  readonly admin: string;
  readonly person: string;
}

/** Makes the projects `demo`, which is public, and `empty`, which is private; fills `demo`. */
export async function fillProject(program: Program, members: Members): Promise<ProjectPlaces> {
  const { bytes, thread } = await seed(program);
  await order(program, "POST /v1/projects", { slug: "empty", name: "Empty" });
  await order(program, "POST /v1/projects", {
    slug: "demo",
    name: "Demo",
    description: "A project for tests",
    visibility: "public",
  });
  await importRepository(program, bytes);
  for (const slug of ["demo", "empty"]) {
    const path = `/v1/projects/${slug}/members`;
    await order(program, `PUT ${path}/${members.admin}`, { role: "admin" });
    for (const name of [members.person, "scout", "builder"]) {
      await order(program, `PUT ${path}/${name}`, { role: "write" });
    }
  }
  await fillDocuments(program);
  const ticket = await fillTickets(program);
  const reviews = await fillReviews(program, ticket, members);
  const timeline = await order(program, `GET ${BASE}/timeline?branch=trunk`);
  const tip = textAt(timeline, "checkins.0.uuid");
  const parent = textAt(timeline, "checkins.1.uuid");
  await fillReleases(program, tip);
  const checks = await fillChecks(program);
  const webhook = await addWebhook(program, "/v1/projects/demo/webhooks");
  await order(program, "PUT /v1/projects/demo/mirror", {
    git: { url: "http://127.0.0.1:9/demo.git" },
  });
  const technotes = await order(program, `GET ${BASE}/technotes`);
  return {
    tip,
    parent,
    ticket,
    technote: textAt(technotes, "technotes.0.id"),
    thread,
    reviews,
    webhook,
    checks,
  };
}

async function importRepository({ api, token }: Server, bytes: Uint8Array): Promise<void> {
  const response = await fetch(`${api}/v1/projects/demo/repository`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: Uint8Array.from(bytes),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The import was refused: ${text}`);
}

/** A wiki page of two versions, one with every element, and one in Fossil's markup. */
async function fillDocuments(server: Server): Promise<void> {
  const pages = [
    ["Home", "Welcome to the **demo**, and see [Guide].", "text/x-markdown"],
    ["Guide", README.replace("![The logo](docs/logo.svg)", ""), "text/x-markdown"],
    ["Old/Page", "<h1>Old</h1>\n<verbatim>as it is</verbatim> [Home]", "text/x-fossil-wiki"],
  ] as const;
  for (const [name, content, mimetype] of pages) {
    await order(server, `PUT ${BASE}/wiki/${encodeURIComponent(name)}`, { content, mimetype });
  }
}

/** Tickets in several states: claimed, struck out, closed; returns the claimed one. */
async function fillTickets(server: Server): Promise<string> {
  await order(server, `POST ${BASE}/tickets/fields`, { name: "team" });
  const file = async (title: string, more: Readonly<Record<string, unknown>> = {}) => {
    const body = { title, comment: `${title}: *see* the log`, ...more };
    return textAt(await order(server, `POST ${BASE}/tickets`, body), "uuid");
  };
  const claimed = await file("Empty lines are printed", { type: "Code_Defect", severity: "Minor" });
  const at = `${BASE}/tickets/${claimed}`;
  await order(server, `PATCH ${at}`, { priority: "High", fields: { team: "core" } });
  await order(server, `POST ${at}/comments`, { comment: "Here too, with `\\n`" });
  await order(server, `POST ${at}/claim`, { agent_id: "builder" });
  const struck = await file("Nobody understands this");
  for (let strikes = 0; strikes < 3; strikes++) {
    for (const action of ["claim", "release"]) {
      await order(server, `POST ${BASE}/tickets/${struck}/${action}`, { agent_id: "scout" });
    }
  }
  const closed = await file("It was slow", { priority: "Low" });
  await order(server, `PATCH ${BASE}/tickets/${closed}`, { status: "Closed", resolution: "Fixed" });
  await file(
    "A title of a ticket that goes on for so long that no card has room for it in one line",
    { subsystem: `long-${"name".repeat(15)}` },
  );
  return claimed;
}

/** Workspaces in every state, and the reviews of them. */
async function fillReviews(server: Server, ticket: string, { admin, person }: Members) {
  const [builder, scout] = [{ agent_id: "builder" }, { agent_id: "scout" }];
  const work = async (name: string, agent: object, changes: Readonly<Record<string, string>>) => {
    const own = name === "skip" ? { ticket } : {};
    await order(server, `POST ${BASE}/workspaces/create`, { name, ...own, ...agent });
    await commit(name, agent, changes);
  };
  const commit = (name: string, agent: object, changes: Readonly<Record<string, string>>) =>
    order(server, `POST ${BASE}/workspaces/${name}/commit`, {
      message: `Work on ${name}`,
      changes: Object.entries(changes).map(([path, content]) => ({ path, content })),
      ...agent,
    });
  const open = async (body: object) =>
    numberAt(await order(server, `POST ${BASE}/reviews/create`, body), "id");
  const act = (id: number, action: string, body: object) =>
    order(server, `POST ${BASE}/reviews/${id}/${action}`, body);

  await work("done", scout, { "src/done.ts": MAIN("done") });
  const merged = await open({ title: "Add done", workspace: "done", ...scout });
  await act(merged, "approve", builder);
  await act(merged, "merge", scout);

  await work("skip", builder, { "src/main.ts": MAIN("skip"), "src/skip.ts": MAIN("skip") });
  await work("same", scout, { "src/main.ts": MAIN("same") });
  await work("gone", scout, { "src/gone.ts": MAIN("gone") });
  await order(server, `DELETE ${BASE}/workspaces/gone/abandon`, scout);

  const landing = await open({ title: "Skip empty lines", workspace: "skip", ...builder });
  const line = { file_path: "src/main.ts", line_number: 1, side: "new" };
  await act(landing, "comment", { body: "Why `skip`?", ...line, ...scout });
  await act(landing, "comment", { body: "In *general*, good.", ...scout });
  await act(landing, "request-changes", { comment: "Say more", ...scout });
  await commit("skip", builder, { "src/skip.ts": MAIN("skip it all") });
  await act(landing, "approve", scout);
  await order(server, "PUT /v1/projects/demo/protection", [
    { pattern: "trunk", contexts: ["ci"] },
    { pattern: "release-*", push: "admin" },
  ]);
  await act(landing, "land", builder);

  const pending = await open({ title: "Say the same", workspace: "same", ...scout });
  await act(pending, "reviewers", { reviewers: [admin, person] });
  const closed = await open({ title: "A diff", diff: "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n" });
  await act(closed, "close", {});
  return { landing, pending, merged, closed };
}

/** A release with a file, a draft, a tag and checks of both outcomes. */
async function fillReleases(server: Server, checkin: string): Promise<void> {
  const body = "What is *new*";
  await order(server, `POST ${BASE}/releases`, { tag_name: "v1.0", name: "Version 1.0", body });
  await order(server, `PUT ${BASE}/releases/v1.0/assets/demo.txt`, "hello");
  await order(server, `POST ${BASE}/releases`, { tag_name: "v1.1", name: "Next", is_draft: true });
  for (const name of ["green", `long-${"name".repeat(15)}`]) {
    await order(server, `POST ${BASE}/tags`, { name });
  }
  for (const [context, state] of [["ci", "success"], ["lint", "failure"], ["docs", "pending"]]) {
    await order(server, `POST ${BASE}/status`, { checkin, context, state });
  }
}

/** A webhook that nothing listens to, with a delivery that failed; returns its id. */
export async function addWebhook(server: Server, base: string): Promise<string> {
  const made = await order(server, `POST ${base}`, { url: "http://127.0.0.1:9/hook", types: [] });
  const id = textAt(made, "id");
  await order(server, `POST ${base}/${id}/ping`);
  return id;
}
