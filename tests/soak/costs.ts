/** What a server spends on requests of several kinds, by its processor time. */
import { createHash } from "node:crypto";
import process from "node:process";
import { call } from "../support/api.ts";
import type { Program } from "../support/program.ts";
import { expect } from "./project.ts";
import { API } from "./worker.ts";

/** Requests that are measured together, each of 1 to 10 ms, and how often in an hour. */
const [REQUESTS, SLICES] = [16, 5];

/** What the yardstick hashes, so many times: some 10 ms. */
const [YARDSTICK_BYTES, YARDSTICK_TIMES] = [65_536, 60];

/** The name of the yardstick's values: a fixed computation, which shows how fast the machine is. */
export const YARDSTICK = "yardstick";

/** A kind of work: the same work however much was done before. */
interface Kind {
  readonly name: string;
  /** Sends the request of this number. */
  request(number: number): Promise<unknown>;
}

/** Processor time of a request of each kind. */
export class Costs {
  readonly #program: Program;
  readonly #kinds: readonly Kind[];

  /** @param cookie of an admin, who looks at the pages */
  constructor(program: Program, cookie: string) {
    this.#program = program;
    this.#kinds = [
      { name: "reads", request: (number) => this.#read(at(READS, number)) },
      { name: "pages", request: (number) => this.#look(at(PAGES, number), cookie) },
      { name: "posts", request: (number) => this.#post(number) },
      { name: "commits", request: (number) => this.#commit(number) },
    ];
  }

  /** Microseconds a request: several values of each kind, and of the yardstick in between. */
  async measure(): Promise<Map<string, number[]>> {
    const costs = new Map<string, number[]>([[YARDSTICK, []]]);
    for (const { name, request } of this.#kinds) {
      const values: number[] = [];
      for (let slice = 0; slice < SLICES; slice++) {
        costs.get(YARDSTICK)?.push(yardstick());
        const before = await processorTime(this.#program.pid);
        for (let number = 0; number < REQUESTS; number++) await request(number);
        values.push((await processorTime(this.#program.pid) - before) / REQUESTS);
      }
      costs.set(name, values);
    }
    return costs;
  }

  async #read(path: string): Promise<void> {
    await expect(call(this.#program, "GET", path));
  }

  async #look(path: string, cookie: string): Promise<void> {
    const headers = { cookie, accept: "text/html" };
    const page = await fetch(this.#program.api + path, { headers });
    const text = await page.text();
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${text.slice(0, 300)}`);
  }

  async #post(number: number): Promise<void> {
    const body = { text: `Probe ${number}` };
    const posted = await call(this.#program, "POST", "/v1/channels/general/messages", body);
    if (!posted.ok) throw new Error(await posted.text());
  }

  async #commit(number: number): Promise<void> {
    const body = { content: `Probe ${number} of ${this.#program.pid}` };
    await expect(call(this.#program, "PUT", `${API}/wiki/Probe${number % 10}`, body));
  }
}

/** What the requests of the kind "reads" ask for. */
const READS = [
  "/v1/status",
  "/v1/channels/general/messages?limit=20",
  `${API}/file?path=clock.txt`,
  `${API}/wiki/Page1`,
  `${API}/timeline?per_page=20`,
];

/** What the requests of the kind "pages" ask for. */
const PAGES = ["/", "/channels/general", "/projects/soak", "/projects/soak/timeline"];

function at(paths: readonly string[], number: number): string {
  return paths[number % paths.length] ?? "";
}

/** Processor time of all threads of a process, in microseconds (Linux). */
async function processorTime(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `cat /proc/${pid}/task/*/schedstat`],
    stderr: "null",
  }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  return lines.reduce((sum, line) => sum + Number(line.split(" ", 1)[0]), 0) / 1000;
}

/** Microseconds of this process's processor time for a fixed computation. */
function yardstick(): number {
  const before = process.cpuUsage();
  const bytes = new Uint8Array(YARDSTICK_BYTES);
  for (let time = 0; time < YARDSTICK_TIMES; time++) {
    bytes.set(createHash("sha256").update(bytes).digest());
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
