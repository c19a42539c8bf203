import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Random } from "../services/engines/fossil/support/random.ts";
import { newerFossil } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { FossilClient } from "../support/sync.ts";
import { withFolder } from "../support/temporary.ts";
import { Client } from "./client.ts";
import { nameOf, prepare } from "./project.ts";
import { API } from "./worker.ts";

/** What a run did. */
export interface Work {
  /** How often each operation changed something. */
  readonly done: ReadonlyMap<string, number>;
  /** Artifacts that the server and each clone have in the end. */
  readonly artifacts: number;
}

/** What the three have in common. */
interface Shared {
  readonly random: Random;
  readonly done: Map<string, number>;
  /** Every content that a file had, by path: files return to what they were. */
  readonly past: Map<string, string[]>;
  count: number;
}

/** Files that each one adds at the start. */
const FIRST_FILES = 3;
/** A file of this many lines is worth a delta. */
const MOST_LINES = 400;
/** What `fossil` says when a clone is lost, or the server refuses something. */
const BROKEN =
  /infinite loop|panic|SQLITE|corrupt|wrong hash|assertion|Error:|Autosync failed|not authorized/i;

/**
 * Lets three people change one project at random: two with clones, of the machine's `fossil` and of
 * a newer one, the third through the API, with a clone too. In the end, all clones have what the
 * server has, and nothing is unsound.
 *
 * @throws AssertionError that says what differs or what `fossil` printed
 */
export async function cloneAtRandom(
  operations: number,
  seed: number,
): Promise<Work> {
  const shared: Shared = { random: new Random(seed), done: new Map(), past: new Map(), count: 0 };
  let artifacts = 0;
  await withFolder(async (folder) => {
    const environment = {
      MUSTER_PROJECTS_WORKSPACES_PER_AGENT: "1000000",
      MUSTER_PROJECTS_WORKSPACES: "1000000",
    };
    await using program = await startProgram({ folder, environment });
    const tokens = await prepare(program, 3);
    const programs = ["fossil", newerFossil(), "fossil"];
    const people: Person[] = [];
    using stack = new DisposableStack();
    for (const [index, token] of tokens.entries()) {
      const client = stack.use(new FossilClient(programs[index]!, nameOf(index)));
      people.push(await Person.start(shared, { program, client, name: nameOf(index), token }));
    }
    for (let step = 0; step < operations; step++) {
      const person = shared.random.pick(people);
      const isCaller = person === people[2] && shared.random.below(3) > 0;
      await (isCaller ? person.callAtRandom() : person.workAtRandom());
    }
    // What the last one pushed reaches the first one in the second round.
    for (let round = 0; round < 2; round++) for (const person of people) await person.catchUp();
    artifacts = await compare(program, people);
  });
  return { done: shared.done, artifacts };
}

/** Checks that the clones and the server have the same, and that all are sound. */
async function compare(program: Program, people: readonly Person[]): Promise<number> {
  const doctor = await runMuster(["doctor"], { folder: program.folder });
  assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
  const file = join(program.folder, "data", "projects", "soak.fossil");
  const expected = contentsOf(file);
  for (const person of people) {
    assert.deepEqual(contentsOf(person.file), expected, `the clone of ${person.name}`);
    await person.requireSound(person.file);
    const copy = await person.copyOf(file);
    await person.requireSound(copy);
    await person.requireSound(await person.cloneAgain());
  }
  return expected.artifacts.length;
}

/** The names of public artifacts, and the unversioned files, of a repository. */
function contentsOf(path: string): { artifacts: unknown[]; unversioned: unknown[] } {
  using repository = new DatabaseSync(path, { readOnly: true });
  const hasUnversioned = repository.prepare(
    "SELECT 1 FROM sqlite_schema WHERE name='unversioned'",
  ).get() !== undefined;
  return {
    artifacts: repository.prepare(
      "SELECT uuid FROM blob WHERE size>=0 AND rid NOT IN (SELECT rid FROM private) ORDER BY uuid",
    ).all(),
    unversioned: hasUnversioned
      ? repository.prepare("SELECT name, hash FROM unversioned ORDER BY name").all()
      : [],
  };
}

interface PersonOptions {
  readonly program: Program;
  readonly client: FossilClient;
  readonly name: string;
  readonly token: string;
}

function urlOf({ program, name, token }: PersonOptions): string {
  return `${program.api.replace("//", `//${name}:${token}@`)}/projects/soak/fossil`;
}

/** Someone with a clone and a token. */
class Person {
  readonly name: string;
  readonly #shared: Shared;
  readonly #client: FossilClient;
  readonly #api: Client;
  readonly #url: string;
  readonly #folder: string;
  readonly #log: string[] = [];

  private constructor(shared: Shared, options: PersonOptions, folder: string) {
    const { program, client, name, token } = options;
    this.name = name;
    this.#shared = shared;
    this.#client = client;
    this.#api = new Client(program.api, token);
    this.#url = urlOf(options);
    this.#folder = folder;
  }

  /** Clones the project and opens a checkout. */
  static async start(shared: Shared, options: PersonOptions): Promise<Person> {
    const { client } = options;
    const person = new Person(shared, options, await client.checkout(urlOf(options)));
    // Two versions of one length within a second would be the same to it.
    await client.fossil(["settings", "mtime-changes", "off"], person.#folder);
    for (let files = 0; files < FIRST_FILES; files++) await person.#add();
    return person;
  }

  get file(): string {
    return this.#client.path("work.fossil");
  }

  /** Runs `fossil` in the checkout. Returns whether it did something: conflicts leave it no room. */
  async #try(...args: readonly string[]): Promise<boolean> {
    const { code, stdout, stderr } = await this.#client.run(args, this.#folder);
    this.#log.push(`fossil ${args.join(" ")}: ${code}`);
    const said = `${this.name}: ${stdout}${stderr}\n${this.#log.slice(-30).join("\n")}`;
    assert.ok(code < 128 && !BROKEN.test(stdout + stderr), said);
    return code === 0;
  }

  #count(operation: string): void {
    const { done } = this.#shared;
    done.set(operation, (done.get(operation) ?? 0) + 1);
  }

  #name(what: string): string {
    return `${what}${++this.#shared.count}`;
  }

  /** A new text, or what some file was. */
  #text(path: string): string {
    const { random, past } = this.#shared;
    const own = past.get(path) ?? [];
    const all = [...past.values()].flat();
    const choice = random.below(6);
    if (choice < 2 && own.length > 0) return this.#keep(path, random.pick(own));
    if (choice === 2 && all.length > 0) return this.#keep(path, random.pick(all));
    const last = own.at(-1)?.split("\n").slice(0, -1) ?? [];
    const lines = last.length > 0 ? last : Array.from(
      { length: 1 + random.below(MOST_LINES) },
      (_, line) => `${path}: line ${line} of the first version`,
    );
    lines[random.below(lines.length)] = this.#name("a changed line ");
    return this.#keep(path, `${lines.join("\n")}\n`);
  }

  #keep(path: string, text: string): string {
    const { past } = this.#shared;
    const versions = past.get(path) ?? [];
    versions.push(text);
    past.set(path, versions);
    return text;
  }

  #files(): string[] {
    return [...Deno.readDirSync(this.#folder)]
      .filter(({ name, isFile }) => isFile && name.startsWith("file")).map(({ name }) => name);
  }

  /** Does one random thing with `fossil`. */
  async workAtRandom(): Promise<void> {
    const { random } = this.#shared;
    const deeds: readonly (readonly [string, () => Promise<boolean>])[] = [
      ["edit", () => this.#edit()],
      ["edit", () => this.#edit()],
      ["edit", () => this.#edit()],
      ["add", () => this.#add()],
      ["add", () => this.#add()],
      ["delete", () => this.#delete()],
      ["rename", () => this.#rename()],
      ["chmod", () => this.#chmod()],
      ["chmod", () => this.#chmod()],
      ["revert", () => this.#revert()],
      ["revert", () => this.#revert()],
      ["amend a date", () => this.#amendDate()],
      ["amend a comment", () => this.#amend("--comment", this.#name("amended "))],
      ["branch", () => this.#branch()],
      ["switch", () => this.#switch()],
      ["merge", () => this.#merge()],
      ["tag", () => this.#tag()],
      ["private", () => this.#commitPrivate()],
      ["unversioned", () => this.#unversioned()],
      ["wiki", () => this.#wiki()],
      ["ticket", () => this.#ticket()],
      ["offline", () => this.#offline()],
      ["update", () => this.#try("update", "--force-missing")],
      ["pull", () => this.#try("pull")],
      ["sync", () => this.#try("sync")],
    ];
    const [name, deed] = random.pick(deeds);
    this.#log.push(name);
    if (await deed()) this.#count(name);
  }

  async #commit(...more: readonly string[]): Promise<boolean> {
    const message = this.#name("check-in ");
    return await this.#try(
      "commit",
      "--no-warnings",
      "--allow-fork",
      "--allow-older",
      "-m",
      message,
      ...more,
    );
  }

  async #edit(): Promise<boolean> {
    const files = this.#files();
    if (files.length === 0) return false;
    const path = this.#shared.random.pick(files);
    Deno.writeTextFileSync(join(this.#folder, path), this.#text(path));
    return await this.#commit();
  }

  async #add(): Promise<boolean> {
    const path = this.#name("file");
    Deno.writeTextFileSync(join(this.#folder, path), this.#text(path));
    await this.#try("add", path);
    return await this.#commit();
  }

  async #delete(): Promise<boolean> {
    const files = this.#files();
    if (files.length < 3) return false;
    return await this.#try("rm", "--hard", this.#shared.random.pick(files)) && await this.#commit();
  }

  async #rename(): Promise<boolean> {
    const files = this.#files();
    if (files.length === 0) return false;
    const [from, to] = [this.#shared.random.pick(files), this.#name("file")];
    if (!await this.#try("mv", "--hard", from, to)) return false;
    if (this.#shared.random.below(2) === 0) {
      Deno.writeTextFileSync(join(this.#folder, to), this.#text(from));
    }
    return await this.#commit();
  }

  async #chmod(): Promise<boolean> {
    const files = this.#files();
    if (files.length === 0) return false;
    const path = join(this.#folder, this.#shared.random.pick(files));
    const mode = Deno.statSync(path).mode ?? 0;
    chmodSync(path, (mode & 0o100) === 0 ? 0o755 : 0o644);
    return await this.#commit();
  }

  /** Takes a file, or all of them, back to an older check-in. */
  async #revert(): Promise<boolean> {
    const version = await this.#checkin("");
    const files = this.#files();
    if (files.length === 0) return false;
    const chosen = this.#shared.random.below(3) > 0 ? [this.#shared.random.pick(files)] : files;
    return await this.#try("revert", "-r", version, ...chosen) && await this.#commit();
  }

  /** A random public check-in; empty if there is none. */
  async #checkin(condition: string): Promise<string> {
    const output = await this.#client.fossil([
      "sql",
      "-R",
      this.file,
      `SELECT uuid FROM event JOIN blob ON objid=rid
        WHERE type='ci' AND rid NOT IN (SELECT rid FROM private) ${condition} ORDER BY uuid`,
    ]);
    const checkins = output.match(/[0-9a-f]{40,}/g) ?? [""];
    return this.#shared.random.pick(checkins);
  }

  async #amend(...change: readonly string[]): Promise<boolean> {
    // A merged workspace takes no changes. Clients send what an amendment into the past reverts as deltas of one another, if it is new.
    if (!await this.#try("sync")) return false;
    const own = await this.#checkin(
      `AND user='${this.name}' AND NOT EXISTS(SELECT 1 FROM tagxref
        WHERE tagxref.rid=blob.rid AND tagid=8 AND value LIKE 'workspace/%')`,
    );
    if (own === "" || !await this.#try("amend", own, ...change)) return false;
    return await this.#try("sync");
  }

  #amendDate(): Promise<boolean> {
    const { random } = this.#shared;
    const ago = random.pick([-60_000, 3_600_000, 1e10, 1e11 + random.below(1e9)]);
    return this.#amend("--date", new Date(Date.now() - ago).toISOString().slice(0, 19));
  }

  #branch(): Promise<boolean> {
    const files = this.#files();
    const path = files.length > 0 ? this.#shared.random.pick(files) : "";
    if (path === "") return Promise.resolve(false);
    Deno.writeTextFileSync(join(this.#folder, path), this.#text(path));
    return this.#commit("--branch", this.#name("branch"));
  }

  async #branches(): Promise<string[]> {
    const { stdout } = await this.#client.run(["branch", "list"], this.#folder);
    return [...stdout.matchAll(/(?:^|\s)(trunk|branch\d+)(?=\s|$)/g)].map((match) => match[1]!);
  }

  async #switch(): Promise<boolean> {
    const branches = await this.#branches();
    return branches.length > 0 &&
      await this.#try("update", this.#shared.random.pick(["trunk", ...branches]));
  }

  async #merge(): Promise<boolean> {
    const branches = await this.#branches();
    if (branches.length === 0) return false;
    const { stdout } = await this.#client.run(
      ["merge", this.#shared.random.pick(branches)],
      this.#folder,
    );
    if (!/conflict/i.test(stdout) && await this.#commit()) return true;
    await this.#try("revert");
    return false;
  }

  #tag(): Promise<boolean> {
    return this.#try("tag", "add", this.#name("tag"), "current");
  }

  async #commitPrivate(): Promise<boolean> {
    const files = this.#files();
    if (files.length === 0) return false;
    const path = this.#shared.random.pick(files);
    Deno.writeTextFileSync(join(this.#folder, path), this.#text(path));
    const isDone = await this.#commit("--private", "--branch", this.#name("private"));
    return await this.#try("update", "trunk") && isDone;
  }

  async #unversioned(): Promise<boolean> {
    const name = this.#shared.random.pick(["u1", "u2", "u3"]);
    const path = this.#client.write(`uv-${this.name}`, this.#text(name));
    return await this.#try("uv", "add", path, "--as", name) && await this.#try("uv", "sync");
  }

  async #wiki(): Promise<boolean> {
    const title = this.#shared.random.pick(["Home", "Plan", "Notes"]);
    const path = this.#client.write(`wiki-${this.name}`, this.#text(title));
    await this.#try("pull");
    return await this.#try("wiki", "commit", title, path) ||
      await this.#try("wiki", "create", title, path);
  }

  #ticket(): Promise<boolean> {
    return this.#try("ticket", "add", "title", this.#name("ticket "), "status", "Open");
  }

  /** Several check-ins that reach the server together. */
  async #offline(): Promise<boolean> {
    await this.#try("settings", "autosync", "off");
    const { random } = this.#shared;
    const deeds = [
      () => this.#edit(),
      () => this.#edit(),
      () => this.#add(),
      () => this.#chmod(),
      () => this.#rename(),
    ];
    for (let left = 2 + random.below(4); left > 0; left--) await random.pick(deeds)();
    await this.#try("settings", "autosync", "on");
    return await this.#try("sync");
  }

  /** Does one random thing through the API. */
  async callAtRandom(): Promise<void> {
    const { random } = this.#shared;
    const deeds: readonly (readonly [string, () => Promise<boolean>])[] = [
      ["workspace", () => this.#workspace()],
      ["workspace", () => this.#workspace()],
      ["workspace", () => this.#workspace()],
      ["workspace", () => this.#workspace()],
      ["wiki by API", () => {
        const title = random.pick(["Home", "Plan", "Notes"]);
        return this.#call(`PUT ${API}/wiki/${title}`, {
          content: this.#text(title),
          mimetype: "text/x-markdown",
        });
      }],
      ["ticket by API", () => this.#call(`POST ${API}/tickets`, { title: this.#name("ticket ") })],
      ["tag by API", () => this.#call(`POST ${API}/tags`, { name: this.#name("tag") })],
    ];
    const [name, deed] = random.pick(deeds);
    if (await deed()) this.#count(name);
  }

  /** Sends a request. Returns whether it did something; a conflict with others is no failure. */
  async #call(request: string, body: unknown): Promise<boolean> {
    const answer = await this.#api.send(request, body);
    const status = answer?.status ?? 0;
    this.#log.push(`${request}: ${status}`);
    const isExpected = status < 300 || [400, 404, 409].includes(status);
    assert.ok(answer !== null && isExpected, `${request}: ${JSON.stringify(answer)}`);
    return status < 300;
  }

  /** Changes files on a workspace, and merges it. */
  async #workspace(): Promise<boolean> {
    const { random } = this.#shared;
    const name = this.#name("w");
    await this.#call(`POST ${API}/workspaces/create`, { name });
    const tree = await this.#api.get<{ entries: { name: string; type: string }[] }>(`${API}/tree`);
    const files = tree.entries.filter((entry) => entry.name.startsWith("file"))
      .map((entry) => entry.name);
    for (let commits = 1 + random.below(3); commits > 0; commits--) {
      const path = files.length === 0 ? this.#name("file") : random.pick(files);
      const change = random.pick([
        { path, content: this.#text(path) },
        { path, content: this.#text(path) },
        { path, content: this.#text(path), executable: true },
        { path, delete: true },
        { path, rename_to: this.#name("file") },
      ]);
      const message = this.#name("by API ");
      await this.#call(`POST ${API}/workspaces/${name}/commit`, { message, changes: [change] });
    }
    return await this.#call(`POST ${API}/workspaces/${name}/merge`, {});
  }

  /** Sends what is not sent, and gets what is new. */
  async catchUp(): Promise<void> {
    await this.#client.fossil(["sync"], this.#folder);
    await this.#client.fossil(["uv", "sync"], this.#folder);
    await this.#client.fossil(["update", "trunk"], this.#folder);
  }

  /** Copies a repository that another program has open. */
  async copyOf(path: string): Promise<string> {
    const copy = this.#client.path(`copy-${crypto.randomUUID()}.fossil`);
    await this.#client.fossil(["sql", "-R", path, `VACUUM INTO '${copy}'`]);
    return copy;
  }

  async cloneAgain(): Promise<string> {
    await this.#client.fossil(["clone", this.#url, "again.fossil"]);
    return this.#client.path("again.fossil");
  }

  /** Checks every artifact, and that a rebuild works. */
  async requireSound(path: string): Promise<void> {
    const said = await this.#client.fossil(["test-integrity", path]);
    assert.match(said, / 0 errors/, `${this.name}: ${path}`);
    const phantoms = ["sql", "-R", path, "SELECT count(*) FROM phantom"];
    assert.equal((await this.#client.fossil(phantoms)).trim(), "0");
    await this.#client.fossil(["rebuild", path]);
  }
}
