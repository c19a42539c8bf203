import { call, order } from "../../support/api.ts";
import { FossilClient } from "../../support/sync.ts";
import { asked } from "../../support/until.ts";
import { must, type World } from "./world.ts";

interface ProjectView {
  readonly slug: string;
  readonly node: string;
}

interface NodeView {
  readonly name: string;
  readonly state: string;
}

/** What becomes of the projects of a node that was killed. */
export class Outage {
  readonly #world: World;
  readonly #dead: string;

  constructor(world: World, dead: string) {
    this.#world = world;
    this.#dead = dead;
  }

  /** Looks at every project on every node that runs: at once, and when the nodes know of it. */
  async check(): Promise<void> {
    const { cluster } = this.#world;
    const running = cluster.names.filter((name) => cluster.runs(name));
    const projects = await this.#projects();
    for (const node of running) await this.#look(node, projects);
    for (const node of running) {
      const nodes = () => order(this.#world.operator(node), "GET /v1/nodes") as Promise<NodeView[]>;
      await asked(nodes, (all) => all.find(({ name }) => name === this.#dead)?.state === "stopped");
      await this.#look(node, projects);
    }
  }

  /** Restores a busy project on another node, from the disk of the dead one. Returns its slug. */
  async restore(node: string): Promise<string> {
    const world = this.#world;
    const [lost] = (await this.#projects()).filter((project) => project.node === this.#dead);
    if (lost === undefined) throw new Error(`No project was on ${this.#dead}`);
    using client = new FossilClient("fossil");
    const copy = client.path("copy.fossil");
    const file = `${world.cluster.folder}/${this.#dead}/data/projects/${lost.slug}.fossil`;
    await client.fossil(["sql", "-R", file, `VACUUM INTO '${copy}'`]);
    const { api, token } = world.operator(node);
    const answer = fetch(`${api}/v1/projects/${lost.slug}/restore?node=${node}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}` },
      body: (await Deno.open(copy)).readable,
    });
    await must(answer, 200);
    const found = await call(world.operator(node), "GET", pathOf(lost.slug));
    await must(Promise.resolve(found), 200);
    return lost.slug;
  }

  async #look(node: string, projects: readonly ProjectView[]): Promise<void> {
    const world = this.#world;
    const { token } = world.operator(node);
    for (const { slug, node: home } of projects) {
      const request = `GET ${pathOf(slug)}`;
      const { status, retryAfter } = await world.send(node, `Bearer ${token}`, request);
      const isRight = home === this.#dead ? status === 503 && retryAfter !== null : status === 200;
      if (!isRight) {
        world.fault(`${node}: ${request} of ${home}: ${status}, Retry-After ${retryAfter}`);
      }
      world.count(home === this.#dead ? "looks at projects of a dead node" : "looks at projects");
    }
  }

  async #projects(): Promise<readonly ProjectView[]> {
    const world = this.#world;
    const all = await order(world.operator(), "GET /v1/projects") as ProjectView[];
    return all.filter(({ slug }) => world.projects.includes(slug));
  }
}

function pathOf(slug: string): string {
  return `/projects/${slug}/fossil/api/tickets?per_page=1`;
}
