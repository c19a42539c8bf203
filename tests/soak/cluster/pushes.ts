import { FossilClient } from "../../support/sync.ts";
import { must, type World } from "./world.ts";
import { call } from "../../support/api.ts";

/** The pause between two pushes to a project, in milliseconds. */
const PUSH_EVERY = 20_000;

/** How many programs run at once: each takes a core for a moment. */
const AT_ONCE = 4;

/** Check-ins that the `fossil` program pushes to the projects. */
export class Pushes implements Disposable {
  readonly #world: World;
  readonly #client = new FossilClient("fossil");
  /** The hashes of check-ins whose push succeeded, by project. */
  readonly #pushed = new Map<string, string[]>();
  #token = "";
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Clones every project. */
  async prepare(): Promise<void> {
    const world = this.#world;
    const [member] = world.members;
    if (member === undefined) throw new Error("Nobody may push");
    const body = { owner: member.nick, name: "pushes", scopes: ["read", "write"] };
    const text = await must(call(world.operator(), "POST", "/v1/tokens", body), 201);
    this.#token = JSON.parse(text).token;
    for (const slug of world.projects) {
      await this.#client.fossil(["clone", this.#url(slug, world.choose()), `${slug}.fossil`]);
      Deno.mkdirSync(this.#client.path(slug));
      await this.#client.fossil(["open", "--nosync", `../${slug}.fossil`], this.#client.path(slug));
      await this.#client.fossil(["settings", "autosync", "off"], this.#client.path(slug));
    }
  }

  /** Commits and pushes until the end. */
  async run(): Promise<void> {
    await Promise.all(this.#world.projects.map((slug) => this.#push(slug)));
  }

  /** Looks for every check-in whose push succeeded. */
  async check(node: string): Promise<void> {
    const world = this.#world;
    const who = `Bearer ${this.#token}`;
    for (const [slug, hashes] of this.#pushed) {
      for (const hash of hashes) {
        const request = `GET /projects/${slug}/fossil/api/checkin/${hash}`;
        const { status, text } = await world.send(node, who, request);
        if (status !== 200) world.fault(`${node}: ${request}: ${status} ${text}`);
      }
    }
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }

  async #push(slug: string): Promise<void> {
    const world = this.#world;
    const folder = this.#client.path(slug);
    let unpushed: string[] = [];
    await world.pause(world.random.below(PUSH_EVERY));
    for (let count = 0; !world.isEnding; count++) {
      await this.#inTurn(async () => {
        this.#client.write(`${slug}/file.txt`, `Version ${count}\n`);
        if (count === 0) await this.#client.fossil(["add", "file.txt"], folder);
        const message = `Version ${count}`;
        const committed = await this.#client.run(
          ["commit", "-m", message, "--no-warnings", "--nosync"],
          folder,
        );
        const hash = /New_Version: ([0-9a-f]{40,64})/.exec(committed.stdout)?.[1];
        if (hash === undefined) {
          // Programs of one person share a database of settings, which one of them may lock.
          world.count("commits that failed");
          return;
        }
        unpushed.push(hash);
        const node = world.choose();
        const { code, stderr, stdout } = await this.#client.run(
          ["push", this.#url(slug, node), "--once"],
          folder,
        );
        const isRefused = /Error|failed|unavailable/i.test(stdout + stderr);
        if (code !== 0 || isRefused) return this.#failed(stdout + stderr);
        world.count("pushes acknowledged");
        this.#pushed.set(slug, [...this.#pushed.get(slug) ?? [], ...unpushed]);
        unpushed = [];
      });
      // What failed is tried again sooner, so that some push succeeds between two faults.
      const every = unpushed.length === 0 ? PUSH_EVERY : PUSH_EVERY / 4;
      await world.pause(every / 2 + world.random.below(every));
    }
  }

  /** Counts why pushes fail: while a project or a node is away, and for nothing else. */
  #failed(output: string): void {
    const why = /^.*(?:Error|failed|unavailable).*$/im.exec(output)?.[0] ?? output;
    const reason = why.replaceAll(/http\S+|"\w+"|\d+/g, "…").trim().slice(0, 100);
    this.#world.count(`pushes that failed: ${reason}`);
  }

  async #inTurn(act: () => Promise<void>): Promise<void> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      await act();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  #url(slug: string, node: string): string {
    const { host } = new URL(this.#world.cluster.addressOf(node));
    const [member] = this.#world.members;
    return `http://${member?.nick}:${this.#token}@${host}/projects/${slug}/fossil`;
  }
}
