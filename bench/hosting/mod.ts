/** Repository hosting over HTTP, on a real repository with many tickets. */
import type { Figure, Scenario } from "../scenario.ts";
import { type Exchange, figuresOf } from "./exchange.ts";
import { isFile } from "../fossil/scenario.ts";
import { HostedProject } from "./project.ts";

export { BESIDE } from "./beside.ts";
export { BESIDE_WRITERS } from "./beside_writers.ts";
export { type Exchange, run, type Site } from "./exchange.ts";
export { GIT } from "./git.ts";
export { GIT_LARGE } from "./git_large.ts";
export { HOSTING_LARGE } from "./large.ts";
export { PAGES } from "./pages.ts";
export { HostedProject } from "./project.ts";
export { SYNC } from "./sync.ts";

const TICKETS = 10_000;
/** The workspace that takes the commits. */
const WORKSPACE = "bench";
/** Check-ins of a page of the timeline. */
const PAGE = 50;

/** Reads and writes of one project over HTTP. */
export const HOSTING: Scenario = {
  name: "hosting",
  anyIrcServer: false,
  describe: ({ seconds, repository }) =>
    `requests to one project with ${TICKETS} tickets over 16 connections, ${seconds} s each; ` +
    repository,
  obstacle: ({ repository }) =>
    isFile(repository) ? null : `there is no ${repository}; --repository names one`,
  measure: async ({ seconds, repository }) => {
    await using project = await HostedProject.start({ path: repository, tickets: TICKETS });
    const exchanges = await exchangesOf(project);
    // One round that does not count: the client warms up, too, and the work after an import ends.
    for (const exchange of exchanges.slice(0, 1)) await figuresOf(project, exchange, seconds);
    const figures: Figure[] = [];
    for (const exchange of exchanges) {
      figures.push(...await figuresOf(project, exchange, seconds));
    }
    return figures;
  },
};

async function exchangesOf(project: HostedProject): Promise<Exchange[]> {
  const { checkins } = JSON.parse(await project.ask("GET", "/api/timeline?per_page=100"));
  await project.ask("POST", "/api/workspaces/create", { name: WORKSPACE });
  return [
    ...listsOf(await longestBranch(project)),
    ...contentsOf((index) => checkins[index % checkins.length].uuid),
    ...batches(),
    ...writesOf(project),
  ];
}

const READ = { method: "GET", status: 200 } as const;

interface Branch {
  readonly name: string;
  readonly checkin_count: number;
}

async function longestBranch(project: HostedProject): Promise<Branch> {
  const { branches } = JSON.parse(await project.ask("GET", "/api/branches"));
  return branches.toSorted((one: Branch, other: Branch) =>
    other.checkin_count - one.checkin_count
  )[0];
}

function listsOf({ name: branch, checkin_count }: Branch): Exchange[] {
  const timeline = { ...READ, holds: '"uuid":' };
  const pages = Math.ceil(checkin_count / PAGE);
  return [
    {
      ...timeline,
      name: `timeline of ${PAGE}`,
      path: () => `/api/timeline?per_page=${PAGE}`,
      fossilrepo: 71,
    },
    {
      ...timeline,
      name: "timeline, each another page",
      path: (index) => `/api/timeline?per_page=${PAGE}&page=${index % pages + 1}&branch=${branch}`,
    },
    {
      ...READ,
      name: "branches",
      path: () => "/api/branches",
      holds: '"last_uuid":',
      fossilrepo: 44,
    },
    {
      ...READ,
      name: "tickets of 50",
      path: () => "/api/tickets?per_page=50",
      holds: '"title":',
      fossilrepo: 66,
    },
    {
      ...READ,
      name: "search",
      path: () => "/api/search?q=router",
      holds: '"uuid":',
      fossilrepo: 70,
    },
    // Each ticket has the word and a number of its own.
    {
      ...READ,
      name: "search, each another",
      path: (index) => `/api/search?q=case+${index % TICKETS}`,
      holds: '"uuid":',
    },
  ];
}

function contentsOf(checkin: (index: number) => string): Exchange[] {
  const tree = { ...READ, holds: '"type":"file"' };
  return [
    { ...tree, name: "tree", path: () => "/api/tree" },
    {
      ...tree,
      name: "tree, each another check-in",
      path: (index) => `/api/tree?checkin=${checkin(index)}&path=lib`,
    },
    { ...READ, name: "file", path: () => "/api/file?path=lib/response.js", holds: "res.send" },
    {
      ...READ,
      name: "file, each another check-in",
      path: (index) => `/api/file?path=package.json&checkin=${checkin(index)}`,
      holds: '"name":',
    },
  ];
}

function batches(): Exchange[] {
  const batch = (count: number) => ({
    name: `batch of ${count}`,
    method: "POST" as const,
    status: 200,
    path: () => "/api/batch",
    body: () => ({ requests: batchOf(count) }),
    holds: '"status":200',
  });
  return [{ ...batch(5), fossilrepo: 18 }, batch(25)];
}

function writesOf(project: HostedProject): Exchange[] {
  return [
    {
      name: "claim",
      method: "POST",
      status: 201,
      path: (index) => `/api/tickets/${project.tickets[index]}/claim`,
      body: () => ({}),
      holds: '"claimed"',
      least: 500,
    },
    {
      name: "commit",
      method: "POST",
      status: 200,
      path: () => `/api/workspaces/${WORKSPACE}/commit`,
      body: (index) => ({
        message: `Change ${index}`,
        changes: [{ path: "bench.txt", content: `Change ${index}\n` }],
      }),
      holds: '"uuid":',
    },
  ];
}

/** Items of a batch: the lists that an agent reads first. */
function batchOf(count: number): { readonly path: string }[] {
  const paths = [
    "/api/project",
    "/api/timeline?per_page=25",
    "/api/tickets?per_page=25",
    "/api/branches",
    "/api/tree",
  ];
  return Array.from({ length: count }, (_, index) => ({ path: paths[index % paths.length] ?? "" }));
}
