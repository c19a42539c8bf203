/** Repository hosting beside Gitea: the same reads, and new tickets. */
import { join } from "node:path";
import { hasFossil } from "../fossil/program.ts";
import { isFile } from "../fossil/scenario.ts";
import { Workbench } from "../fossil/workbench.ts";
import { type Exchange, HostedProject, run, type Site } from "../hosting/mod.ts";
import { inParallel } from "../parallel.ts";
import { giteaProgram, GiteaServer } from "../servers/mod.ts";
import type { Sizes } from "../scenarios/mod.ts";
import { type Contestant, type MeasureOnce, scenarioOf } from "./row.ts";

const TICKETS = 2_000;
/** Tickets that Gitea gets at the same time. */
const PARALLEL_TICKETS = 16;
const TITLE = "A ticket of the bench";
const TEXT = "What happens in this case, in a sentence or two of text.";

type Key = "commits" | "branches" | "file" | "tickets" | "creation" | "creationTime";

/** The requests to a server, each with the column of its CPU time. */
type Exchanges = Readonly<Record<Exclude<Key, "creationTime">, Exchange>>;

const READ = { method: "GET", status: 200 } as const;

const ON_MUSTER = exchangesOf({
  commits: "/api/timeline?per_page=50",
  branches: "/api/branches",
  file: "/api/file?path=lib/response.js",
  tickets: "/api/tickets?per_page=50",
  creation: { path: "/api/tickets", textField: "comment" },
});

const ON_GITEA = exchangesOf({
  commits: "/commits?limit=50&stat=false&verification=false&files=false",
  branches: "/branches?limit=50",
  file: "/raw/lib/response.js",
  tickets: "/issues?type=issues&limit=50",
  creation: { path: "/issues", textField: "body" },
});

export const GITEA_ROW = scenarioOf<Key>({
  name: "hosting",
  columns: [
    { key: "commits", name: "list of 50 commits", unit: "µs" },
    { key: "branches", name: "branches", unit: "µs" },
    { key: "file", name: "raw file", unit: "µs" },
    { key: "tickets", name: "list of 50 tickets", unit: "µs" },
    { key: "creation", name: "create a ticket", unit: "µs" },
    { key: "creationTime", name: "create a ticket, by the clock", unit: "µs" },
  ],
  describe: ({ seconds, repository }) =>
    `16 kept connections for ${seconds} s each, CPU per request; ${TICKETS} tickets, ${repository}`,
  obstacle: ({ repository }) => {
    if (giteaProgram() === null) return "MUSTER_PEER_GITEA names no program of Gitea";
    if (!hasFossil()) return "the program fossil is not installed";
    return isFile(repository) ? null : `there is no ${repository}; --repository names one`;
  },
  muster: {
    name: "muster",
    prepare: async (sizes, open) => {
      const source = { path: sizes.repository, tickets: TICKETS };
      return measuring(open.use(await HostedProject.start(source)), ON_MUSTER, sizes);
    },
  },
  peers: () => [giteaContestant()],
});

function giteaContestant(): Contestant<Key> {
  return {
    name: "Gitea",
    prepare: async (sizes, open) => {
      const server = open.use(await GiteaServer.start());
      await using bench = await Workbench.open();
      const stream = bench.path("stream");
      const copy = await bench.copy(sizes.repository, "source.fossil");
      await bench.program.run(["export", "--git", copy], { stdout: stream });
      const base = await server.createRepository(stream, join(bench.folder, "git"), "master");
      const site = { server, token: server.token, base };
      await fill(site);
      return measuring(site, ON_GITEA, sizes);
    },
  };
}

/** Creates as many issues as the project of muster has. */
async function fill({ server: { api }, token, base }: Site): Promise<void> {
  const url = `http://${api.hostname}:${api.port}${base}${ON_GITEA.creation.path(0)}`;
  await inParallel(Array.from({ length: TICKETS }), PARALLEL_TICKETS, async () => {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(ON_GITEA.creation.body?.(0)),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Gitea takes no ticket: ${response.status} ${text}`);
  });
}

function exchangesOf(
  paths: Readonly<Record<Exclude<keyof Exchanges, "creation">, string>> & {
    readonly creation: { readonly path: string; readonly textField: string };
  },
): Exchanges {
  const { path, textField } = paths.creation;
  return {
    commits: { ...READ, name: "commits", path: () => paths.commits, holds: '"parents":' },
    branches: { ...READ, name: "branches", path: () => paths.branches, holds: '"name":' },
    file: { ...READ, name: "file", path: () => paths.file, holds: "res.send" },
    tickets: { ...READ, name: "tickets", path: () => paths.tickets, holds: '"title":' },
    creation: {
      name: "creation",
      method: "POST",
      path: () => path,
      body: () => ({ title: TITLE, [textField]: TEXT }),
      status: 201,
      holds: TITLE,
    },
  };
}

function measuring(site: Site, exchanges: Exchanges, { seconds }: Sizes): MeasureOnce<Key> {
  const measure = (key: keyof Exchanges) =>
    run(site, exchanges[key], { seconds, interval: 0, indexes: () => 0 });
  return async () => {
    const commits = (await measure("commits")).micros;
    const branches = (await measure("branches")).micros;
    const file = (await measure("file")).micros;
    const tickets = (await measure("tickets")).micros;
    const { micros: creation, perSecond } = await measure("creation");
    return { commits, branches, file, tickets, creation, creationTime: 1e6 / perSecond };
  };
}
