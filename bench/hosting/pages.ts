/** Web pages of a real repository: the server's time for each, its reads, and its size. */
import { gzipSync } from "node:zlib";
import { isFile } from "../fossil/scenario.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import { HostedProject } from "./project.ts";

/** Requests for each page: before the measurement, and in it. */
const [WARM_UP, REQUESTS] = [40, 200];
/** Aims for the server's time in milliseconds, and for compressed sizes in KB. */
const [P50, P99, HTML, SCRIPTS, STYLES] = [15, 60, 50, 60, 30];

const TICKETS = 10_000;

const HOME = "/projects/bench";

/** A page, with another address each time if there are several. */
interface PageCase {
  readonly name: string;
  path(index: number): string;
}

/** The server's time and what it sends, for pages that a guest sees. */
export const PAGES: Scenario = {
  name: "pages",
  anyIrcServer: false,
  describe: ({ repository }) =>
    `web pages of a public project with ${TICKETS} tickets, ${REQUESTS} requests for each; ` +
    repository,
  obstacle: ({ repository }) =>
    isFile(repository) ? null : `there is no ${repository}; --repository names one`,
  measure: async ({ repository }) => {
    await using project = await HostedProject.start({ path: repository, tickets: TICKETS });
    await project.publish();
    const { hostname, port } = project.server.api;
    const base = `http://${hostname}:${port}`;
    const figures: Figure[] = [];
    for (const page of await casesOf(project)) figures.push(...await measure(base, page));
    return [...figures, ...await assetsOf(base)];
  },
};

async function casesOf(project: HostedProject): Promise<PageCase[]> {
  const { checkins } = JSON.parse(await project.ask("GET", "/api/timeline?per_page=100"));
  const { entries } = JSON.parse(await project.ask("GET", "/api/tree?recursive=true"));
  const { tags } = JSON.parse(await project.ask("GET", "/api/tags"));
  const checkin = (index: number): string => checkins[index % checkins.length].uuid;
  const file = (index: number): string => entries[index % entries.length].name;
  const tag = (index: number): string => encodeURIComponent(tags[index % 20].name);
  const ticket = (index: number) => project.tickets[index % project.tickets.length] ?? "";
  return [
    { name: "projects", path: () => "/projects" },
    { name: "project", path: () => HOME },
    { name: "tree", path: (index) => `${HOME}/tree/${tag(index)}/lib` },
    { name: "file", path: (index) => `${HOME}/file/tip/${file(index)}` },
    { name: "long file", path: () => `${HOME}/file/tip/History.md?view=source` },
    { name: "blame", path: () => `${HOME}/blame/tip/lib/response.js` },
    { name: "history", path: (index) => `${HOME}/history/lib/response.js?page=${index % 5 + 1}` },
    { name: "timeline", path: (index) => `${HOME}/timeline?page=${index % 120 + 1}` },
    { name: "check-in", path: (index) => `${HOME}/checkin/${checkin(index)}` },
    {
      name: "comparison",
      path: (index) => `${HOME}/compare/${checkin(index + 9)}...${checkin(index)}`,
    },
    { name: "branches", path: () => `${HOME}/branches` },
    { name: "tags", path: (index) => `${HOME}/tags?page=${index % 3 + 1}` },
    { name: "releases", path: () => `${HOME}/releases` },
    { name: "search", path: (index) => `${HOME}/search?q=case+${index % 50}` },
    { name: "tickets", path: (index) => `${HOME}/tickets?page=${index % 100 + 1}` },
    { name: "board", path: () => `${HOME}/tickets?view=board` },
    { name: "ticket", path: (index) => `${HOME}/tickets/${ticket(index)}` },
    { name: "wiki", path: () => `${HOME}/wiki` },
  ];
}

/** Loads a page many times, one after the other. */
async function measure(base: string, { name, path }: PageCase): Promise<Figure[]> {
  const times: number[] = [];
  let [reads, size] = [0, 0];
  for (let index = 0; index < WARM_UP + REQUESTS; index++) {
    const response = await fetch(base + path(index), { headers: { accept: "text/html" } });
    const html = await response.text();
    if (!response.ok) throw new Error(`${path(index)} was answered ${response.status}`);
    const timing = response.headers.get("server-timing") ?? "";
    if (index < WARM_UP) continue;
    times.push(Number(/page;dur=([\d.]+)/.exec(timing)?.[1]));
    reads = Math.max(reads, Number(/reads;desc="(\d+)"/.exec(timing)?.[1]));
    if (index % 20 === 0) size = Math.max(size, gzipSync(html).length);
  }
  const values = Float32Array.from(times);
  return [
    { name: `${name}: p50`, value: percentile(values, 0.5), unit: "ms", aim: P50 },
    { name: `${name}: p99`, value: percentile(values, 0.99), unit: "ms", aim: P99 },
    { name: `${name}: reads`, value: reads, unit: "" },
    { name: `${name}: HTML, compressed`, value: size / 1000, unit: "KB", aim: HTML },
  ];
}

/** The sizes of what every page loads once. */
async function assetsOf(base: string): Promise<Figure[]> {
  const html = await (await fetch(`${base}${HOME}`, { headers: { accept: "text/html" } })).text();
  const [, style = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? [];
  const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
  const styles = await (await fetch(base + style)).text();
  const scripts = await withImports(base, script);
  return [
    { name: "styles, compressed", value: gzipSync(styles).length / 1000, unit: "KB", aim: STYLES },
    {
      name: "scripts, compressed",
      value: gzipSync(scripts.join("\n")).length / 1000,
      unit: "KB",
      aim: SCRIPTS,
    },
  ];
}

/** A module and those that it imports; from the tree, each is a file of its own. */
async function withImports(base: string, first: string): Promise<string[]> {
  const texts = new Map<string, string>();
  const waiting = [first];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue;
    const text = await (await fetch(base + path)).text();
    texts.set(path, text);
    for (const [, name = ""] of text.matchAll(/from "(\.\/[\w./-]+)"/g)) {
      waiting.push(new URL(name, base + path).pathname);
    }
  }
  return [...texts.values()];
}
