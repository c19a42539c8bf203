/** Backups while agents work on a project, people chat and the real `fossil` pushes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Random } from "../services/engines/fossil/support/random.ts";
import { audit } from "../soak/audit.ts";
import { type Answer, Client } from "../soak/client.ts";
import { Facts } from "../soak/facts.ts";
import { expect, makeContested, nameOf, prepare } from "../soak/project.ts";
import { API, type Shared, Worker } from "../soak/worker.ts";
import { call } from "../support/api.ts";
import { succeed } from "../support/commands.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { FossilClient } from "../support/sync.ts";
import { withFolder } from "../support/temporary.ts";

const WORKERS = 4;
const BACKUPS = 3;

/** Work that must happen before each backup, and while it is made. */
const ANSWERS = 40;

const ENVIRONMENT = { MUSTER_PROJECTS_CLAIMS_PER_AGENT: "1000000" };

/** A client that ends when the test says so: its next request is as if the server had ended. */
class EndingClient extends Client {
  readonly #clients: EndingClients;

  constructor(server: Program, token: string, clients: EndingClients) {
    super(server.api, token, () => clients.count());
    this.#clients = clients;
  }

  override send<Body>(request: string, body?: unknown): Promise<Answer<Body> | null> {
    return this.#clients.ended ? Promise.resolve(null) : super.send(request, body);
  }
}

/** What the clients of a test have in common. */
class EndingClients {
  ended = false;
  #answers = 0;
  #awaited: { readonly answers: number; resolve(): void } | null = null;

  count(): void {
    this.#answers++;
    if (this.#awaited !== null && this.#answers >= this.#awaited.answers) this.#awaited.resolve();
  }

  /** Waits for so many more answers. */
  async more(answers: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited = { answers: this.#answers + answers, resolve };
    await promise;
  }
}

/** Everything that goes on at once; its promise ends after the clients have. */
async function work(program: Program, tokens: readonly string[], clients: EndingClients) {
  const random = new Random(20_261_122);
  const shared: Shared = { facts: new Facts(), random, contested: [], won: new Map() };
  await makeContested(program, shared, 1);
  const working = tokens.map((token, index) => {
    const next = tokens[(index + 1) % tokens.length] ?? "";
    const [own, other] = [token, next].map((held) => new EndingClient(program, held, clients));
    assert.ok(own !== undefined && other !== undefined);
    return new Worker(shared, nameOf(index)).work(own, other, null);
  });
  await Promise.all([...working, push(program, tokens[0] ?? "", clients)]);
}

/** Commits and pushes with the real program, again and again. */
async function push(program: Program, token: string, clients: EndingClients): Promise<void> {
  using client = new FossilClient("fossil");
  const { host } = new URL(program.api);
  const folder = await client.checkout(`http://${nameOf(0)}:${token}@${host}/projects/soak/fossil`);
  for (let count = 1; !clients.ended; count++) {
    // To fossil, a file of the same size and the same second is the same.
    client.write("work/pushed.txt", "line\n".repeat(count));
    if (count === 1) await client.fossil(["add", "pushed.txt"], folder);
    const branch = ["--branch", `pushed-${count}`];
    await client.fossil(["commit", "-m", `Push ${count}`, "--no-warnings", ...branch], folder);
  }
}

/** What is acknowledged before a backup begins. */
async function mark(program: Program, name: string): Promise<void> {
  await expect(call(program, "PUT", `${API}/wiki/${name}`, { content: name }));
  const said = await call(program, "POST", "/v1/channels/general/messages", { text: name });
  assert.equal(said.status, 204);
}

/** What `muster doctor --json` prints. */
interface Examined {
  readonly healthy: boolean;
  readonly findings: readonly { readonly check: string }[];
}

/** Checks a restored folder with every checker, before and after a start. */
async function inspect(folder: string, name: string): Promise<void> {
  const { stdout, stderr } = await runMuster(["doctor", "--json"], {
    folder,
    environment: {
      MUSTER_API_ADDR: "127.0.0.1:0",
      MUSTER_MCP_ADDR: "127.0.0.1:0",
      MUSTER_IRC_LISTEN: "127.0.0.1:0",
    },
  });
  const { healthy, findings } = JSON.parse(stdout) as Examined;
  assert.ok(healthy, stdout + stderr);
  // A backup waits ten seconds for a running change; the start settles a longer one, as after a kill.
  assert.deepEqual(findings.filter(({ check }) => check !== "unfinished"), [], stderr);
  using history = new DatabaseSync(join(folder, "data", "history.db"), { readOnly: true });
  const { said } = history.prepare(
    `SELECT count(*) AS said FROM entries JOIN targets ON targets.id = entries.target
     WHERE targets.name = '#general' AND content LIKE ?`,
  ).get(`%${name}%`) ?? {};
  assert.equal(said, 1, `${name} is not in the history`);
  await using program = await startProgram({ folder, environment: ENVIRONMENT });
  await audit(program);
  const page = await call(program, "GET", `${API}/wiki/${name}`);
  assert.equal((await page.json()).content, name);
}

Deno.test({
  name: "a backup under load restores to a state that every checker finds intact",
  ...peer("fossil"),
  fn: async () => {
    await withFolder(async (folder) => {
      await using program = await startProgram({ environment: ENVIRONMENT });
      const tokens = await prepare(program, WORKERS);
      const clients = new EndingClients();
      const working = work(program, tokens, clients);
      const names = Array.from({ length: BACKUPS }, (_, index) => `Backup-${index}`);
      for (const name of names) {
        await Promise.race([working, clients.more(ANSWERS)]);
        await mark(program, name);
        await succeed(program, "backup", join(folder, `${name}.tar`));
      }
      clients.ended = true;
      await working;
      for (const name of names) {
        const home = join(folder, name);
        await Deno.mkdir(home);
        const restored = await runMuster(["restore", `${home}.tar`], { folder: home });
        assert.equal(restored.code, 0, restored.stderr);
        await inspect(home, name);
      }
    });
  },
});
