import assert from "node:assert/strict";
import { join } from "node:path";
import { type Random } from "../../services/engines/fossil/support/random.ts";
import type { Clone, GitRun } from "../../support/git_client.ts";
import type { FossilClient } from "../../support/sync.ts";
import type { Client } from "../client.ts";
import { API } from "../worker.ts";
import type { RandomFiles } from "./files.ts";
import type { SeenHistory } from "./history.ts";

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const MAIN = `${HEADS}trunk`;
const WORKSPACES = `${HEADS}workspace/`;
/** What `fossil` says when a clone is lost, or the server refuses something. */
const BROKEN =
  /infinite loop|panic|SQLITE|corrupt|wrong hash|assertion|Error:|Autosync failed|not authorized/i;

/** What the three have in common. */
export interface Shared {
  readonly random: Random;
  readonly files: RandomFiles;
  readonly seen: SeenHistory;
  /** How often each operation changed something. */
  readonly done: Map<string, number>;
  readonly log: string[];
}

export interface PersonParts {
  readonly name: string;
  readonly git: Clone;
  /** Where `fossil` runs, and its checkout there. */
  readonly fossil: FossilClient;
  readonly checkout: string;
  readonly api: Client;
}

interface ReviewShown {
  readonly id: number;
  readonly workspace: string | null;
}

/** What is in a workspace is merged by its merge. */
const isPlain = (ref: string) => !ref.startsWith(WORKSPACES);

type Deed = readonly [name: string, run: () => Promise<boolean>];

/** Someone with a clone of each kind, and a token. */
export class Person {
  readonly name: string;
  readonly #shared: Shared;
  readonly #git: Clone;
  readonly #fossil: FossilClient;
  readonly #checkout: string;
  readonly #api: Client;
  /** Who approves the reviews of this one. */
  approver: Person | null = null;
  /** Own workspaces that are open, by their names. */
  readonly #workspaces = new Set<string>();

  /** The references of tags that this one has set: nobody removes another's. */
  readonly #tags = new Set<string>();

  constructor(shared: Shared, parts: PersonParts) {
    this.#shared = shared;
    this.name = parts.name;
    this.#git = parts.git;
    this.#fossil = parts.fossil;
    this.#checkout = parts.checkout;
    this.#api = parts.api;
  }

  /** Makes the first files of the project. */
  async begin(): Promise<void> {
    await this.#git.git("checkout", "--quiet", "--orphan", "trunk");
    for (let count = 0; count < 5; count++) await this.#commit();
    await this.#push(`HEAD:${MAIN}`);
  }

  /** Does one random thing at one of the doors. */
  async workAtRandom(): Promise<void> {
    const { random, done, log, seen } = this.#shared;
    const door = random.pick([
      this.#gitDeeds(),
      this.#gitDeeds(),
      this.#fossilDeeds(),
      this.#apiDeeds(),
    ]);
    const [name, run] = random.pick(door);
    log.push(`${this.name}: ${name}`);
    try {
      if (await run()) done.set(name, (done.get(name) ?? 0) + 1);
      await seen.look(this.#git, log.at(-1) ?? "");
    } catch (error) {
      throw new Error(`${name} of ${this.name}: after\n${log.slice(-4000).join("\n")}`, {
        cause: error,
      });
    }
  }

  #gitDeeds(): readonly Deed[] {
    return [
      ["git: commit", () => this.#commitAndPush()],
      ["git: commit", () => this.#commitAndPush()],
      ["git: commit", () => this.#commitAndPush()],
      ["git: commits", () => this.#commitAndPush(2 + this.#shared.random.below(4))],
      ["git: merge", () => this.#merge()],
      ["git: merge", () => this.#merge()],
      ["git: octopus", () => this.#octopus()],
      ["git: fast-forward", () => this.#fastForward()],
      ["git: branch", () => this.#branch()],
      ["git: branch", () => this.#branch()],
      ["git: second root", () => this.#root()],
      ["git: delete a branch", () => this.#deleteBranch()],
      ["git: tag", () => this.#tag()],
      ["git: annotated tag", () => this.#tag("-a", "-m", this.#shared.files.name("tagged "))],
      ["git: delete a tag", () => this.#deleteTag()],
      ["git: workspace", () => this.#workspace()],
      ["git: workspace", () => this.#workspace()],
      ["git: rewrite a workspace", () => this.#rewrite()],
      ["git: rewrite a workspace", () => this.#rewrite()],
      ["git: give up a workspace", () => this.#giveUp()],
      ["git: review", () => this.#review()],
      ["git: stale push", () => this.#stale()],
      ["git: forced push", () => this.#forced()],
      ["git: several references", () => this.#several()],
    ];
  }

  #fossilDeeds(): readonly Deed[] {
    const { files } = this.#shared;
    return [
      ["fossil: commit", () => this.#fossilCommit(() => this.#fossilEdit())],
      ["fossil: commit", () => this.#fossilCommit(() => this.#fossilEdit())],
      ["fossil: commit", () => this.#fossilCommit(() => this.#fossilEdit())],
      ["fossil: delete", () => this.#fossilCommit(() => this.#fossilDelete())],
      ["fossil: rename", () => this.#fossilCommit(() => this.#fossilRename())],
      ["fossil: chmod", () => this.#fossilCommit(() => this.#fossilChmod())],
      [
        "fossil: branch",
        () => this.#fossilCommit(() => this.#fossilEdit(), "--branch", files.name("branch")),
      ],
      ["fossil: merge", () => this.#fossilMerge()],
      ["fossil: merge", () => this.#fossilMerge()],
      ["fossil: tag", () => this.#try("tag", "add", files.name("tag"), "current")],
      ["fossil: amend", () => this.#amend()],
      ["fossil: close", () => this.#close()],
      ["fossil: fork", () => this.#fork()],
      ["fossil: workspace", () => this.#fossilWorkspace()],
    ];
  }

  #apiDeeds(): readonly Deed[] {
    return [
      ["API: workspace", () => this.#apiWorkspace()],
      ["API: workspace", () => this.#apiWorkspace()],
      ["API: merge", () => this.#apiMerge()],
      ["API: abandon", () => this.#apiAbandon()],
      ["API: tag", () => this.#call(`POST ${API}/tags`, { name: this.#shared.files.name("tag") })],
    ];
  }

  // git

  /** The references that the server has, by their names; the clone has all of it afterwards. */
  async #fetch(): Promise<ReadonlyMap<string, string>> {
    await this.#git.git(
      "fetch",
      "--quiet",
      "--prune",
      "--force",
      "--no-tags",
      "origin",
      "+refs/heads/*:refs/remotes/origin/*",
      "+refs/tags/*:refs/tags/*",
    );
    const lines = (await this.#git.git("ls-remote", "--refs", "origin")).trim().split("\n");
    return new Map(lines.map((line) => {
      const [object = "", ref = ""] = line.split("\t");
      return [ref, object];
    }));
  }

  async #pickBranch(isWanted = isPlain): Promise<string> {
    const refs = await this.#fetch();
    const branches = [...refs.keys()].filter((ref) => ref.startsWith(HEADS) && isWanted(ref));
    const ref = branches.includes(MAIN) && this.#shared.random.below(2) === 0
      ? MAIN
      : this.#shared.random.pick(branches);
    if (ref !== undefined) await this.#checkOut(ref);
    return ref ?? "";
  }

  async #checkOut(ref: string): Promise<void> {
    await this.#git.git(
      "checkout",
      "--quiet",
      "--force",
      "--detach",
      ref.startsWith(HEADS) ? `refs/remotes/origin/${ref.slice(HEADS.length)}` : ref,
    );
    await this.#git.git("clean", "--quiet", "-dffx");
  }

  async #head(): Promise<string> {
    return (await this.#git.git("rev-parse", "HEAD")).trim();
  }

  /** Pushes, which nobody has a reason to refuse; checks that the references are there. */
  async #push(...specs: readonly string[]): Promise<true> {
    const { seen, log } = this.#shared;
    // A clone of the empty project has no HEAD before it fetches.
    const { stdout: head } = await this.#git.run("rev-parse", "HEAD");
    log.push(`${this.name}: git push ${specs.join(" ")} (HEAD ${head.trim()})`);
    await this.#git.git("push", "--quiet", "origin", ...specs);
    await seen.look(this.#git, log.at(-1) ?? "");
    for (const spec of specs) {
      const [from = "", to = ""] = spec.replace(/^\+/, "").split(":");
      if (to.startsWith("refs/for/")) continue;
      const pushed = from === "" ? undefined : (await this.#git.git("rev-parse", from)).trim();
      assert.equal(seen.refs.get(to), pushed, `${to} after ${log.at(-1)}`);
      seen.pushed(to);
    }
    return true;
  }

  /** Changes files in the clone, and commits. */
  async #commit(): Promise<string> {
    const { random, files } = this.#shared;
    const { folder } = this.#git;
    for (let changes = 1 + random.below(3); changes > 0; changes--) {
      const paths = files.list(folder);
      const path = paths.length === 0 ? "" : random.pick(paths);
      const isPlain = path !== "" && Deno.lstatSync(join(folder, path)).isFile;
      const choice = random.below(10);
      if (choice === 0 && paths.length > 3) await this.#git.git("rm", "--quiet", "--force", path);
      else if (choice === 1 && isPlain) {
        const to = files.path();
        Deno.mkdirSync(join(folder, to, ".."), { recursive: true });
        Deno.renameSync(join(folder, path), join(folder, to));
      } else if (choice === 2 && isPlain) files.changeMode(folder, path);
      else if (choice === 3) {
        Deno.mkdirSync(join(folder, "links"), { recursive: true });
        Deno.symlinkSync(files.name("../target"), join(folder, files.name("links/l")));
      } else files.edit(folder);
      await this.#git.git("add", "--all");
    }
    if (random.below(12) === 0) {
      const module = files.name("a".repeat(40)).slice(-40).replaceAll(/[^0-9a-f]/g, "0");
      await this.#git.git("update-index", "--add", "--cacheinfo", `160000,${module},module`);
    }
    const message = random.pick(["A change ", "Grüße ", "Two\n\nlines ", "#5: "]);
    const author = random.pick([
      "Ann <ann@example.org>",
      "Bödvar Ö <b@example.org>",
      "worker1 <w>",
    ]);
    await this.#git.git(
      "commit",
      "--quiet",
      "--allow-empty",
      "--cleanup=verbatim",
      `--author=${author}`,
      `--date=${1_700_000_000 + random.below(9e7)} +0${random.below(9)}30`,
      "--message",
      files.name(message) + random.pick(["", "\n", "\n\n"]),
    );
    return await this.#head();
  }

  async #commitAndPush(commits = 1): Promise<boolean> {
    const ref = await this.#pickBranch();
    if (ref === "") return false;
    for (let left = commits; left > 0; left--) await this.#commit();
    return await this.#push(`HEAD:${ref}`);
  }

  /** Merges commits into what is checked out; returns whether it could. */
  async #mergeInto(others: readonly string[]): Promise<boolean> {
    const before = await this.#head();
    const { code } = await this.#git.run(
      "merge",
      "--quiet",
      "--no-edit",
      "--no-ff",
      "--allow-unrelated-histories",
      ...others,
    );
    if (code === 0 && await this.#head() !== before) return true;
    await this.#git.run("merge", "--abort");
    await this.#git.git("reset", "--quiet", "--hard", before);
    await this.#git.git("clean", "--quiet", "-dffx");
    return false;
  }

  #others(except: string, isWanted: (ref: string) => boolean): string[] {
    return [...this.#shared.seen.refs]
      .filter(([ref]) => ref.startsWith(HEADS) && ref !== except && isWanted(ref))
      .map(([, object]) => object);
  }

  async #merge(): Promise<boolean> {
    const ref = await this.#pickBranch();
    const others = this.#others(ref, isPlain);
    if (ref === "" || others.length === 0) return false;
    if (!await this.#mergeInto([this.#shared.random.pick(others)])) return false;
    return await this.#push(`HEAD:${ref}`);
  }

  async #octopus(): Promise<boolean> {
    const ref = await this.#pickBranch();
    const others = new Set(this.#shared.random.shuffle(this.#others(ref, isPlain)).slice(0, 3));
    if (ref === "" || others.size < 2 || !await this.#mergeInto([...others])) return false;
    return await this.#push(`HEAD:${ref}`);
  }

  async #fastForward(): Promise<boolean> {
    const ref = await this.#pickBranch();
    const own = await this.#head();
    for (const other of this.#shared.random.shuffle(this.#others(ref, isPlain))) {
      const { code } = await this.#git.run("merge-base", "--is-ancestor", own, other);
      if (ref !== "" && code === 0 && other !== own) return await this.#push(`${other}:${ref}`);
    }
    return false;
  }

  async #branch(): Promise<boolean> {
    const { random, files } = this.#shared;
    if (await this.#pickBranch() === "") return false;
    const commits = (await this.#git.git("rev-list", "HEAD")).trim().split("\n");
    await this.#git.git("checkout", "--quiet", "--detach", random.pick(commits));
    if (random.below(3) > 0) await this.#commit();
    const name = files.name(random.pick(["branch", "feature/a", "ü", "v1.", "deadbeef"]));
    return await this.#push(`HEAD:${HEADS}${name}`);
  }

  async #root(): Promise<boolean> {
    await this.#fetch();
    const name = this.#shared.files.name("root");
    await this.#git.git("checkout", "--quiet", "--force", "--orphan", name);
    await this.#git.git("rm", "--quiet", "-r", "--force", "--ignore-unmatch", ".");
    this.#shared.files.edit(this.#git.folder);
    await this.#git.git("add", "--all");
    await this.#git.git("commit", "--quiet", "--message", "A root");
    return await this.#push(`HEAD:${HEADS}${name}`);
  }

  async #deleteBranch(): Promise<boolean> {
    const ref = await this.#pickBranch((one) => one !== MAIN && !one.startsWith(WORKSPACES));
    return ref !== "" && await this.#push(`:${ref}`);
  }

  async #tag(...options: readonly string[]): Promise<boolean> {
    const { random, files } = this.#shared;
    if (await this.#pickBranch(() => true) === "") return false;
    const commits = (await this.#git.git("rev-list", "HEAD")).trim().split("\n");
    const branches = [...this.#shared.seen.refs.keys()].filter((ref) => ref.startsWith(HEADS))
      .map((ref) => ref.slice(HEADS.length));
    let name = random.below(8) === 0 ? random.pick(branches) : files.name("release/1.");
    if (this.#shared.seen.refs.has(TAGS + name)) name = files.name("t");
    await this.#git.git("tag", ...options, name, random.pick(commits));
    this.#tags.add(TAGS + name);
    return await this.#push(`${TAGS}${name}:${TAGS}${name}`);
  }

  async #deleteTag(): Promise<boolean> {
    const refs = await this.#fetch();
    const tags = [...refs.keys()].filter((ref) => this.#tags.has(ref));
    return tags.length > 0 && await this.#push(`:${this.#shared.random.pick(tags)}`);
  }

  async #workspace(): Promise<boolean> {
    const { random, files } = this.#shared;
    const own = [...this.#workspaces];
    const name = own.length === 0 || random.below(2) === 0 ? files.name("w") : random.pick(own);
    const ref = WORKSPACES + name;
    if (this.#workspaces.has(name)) {
      if (!(await this.#fetch()).has(ref)) return false;
      await this.#checkOut(ref);
    } else if (await this.#pickBranch() === "") return false;
    await this.#commit();
    await this.#push(`HEAD:${ref}`);
    this.#workspaces.add(name);
    return true;
  }

  async #pickWorkspace(): Promise<string> {
    const refs = await this.#fetch();
    const own = [...this.#workspaces].filter((name) => refs.has(WORKSPACES + name));
    return own.length === 0 ? "" : this.#shared.random.pick(own);
  }

  /** Replaces the commits of an own workspace. */
  async #rewrite(): Promise<boolean> {
    const { random, files } = this.#shared;
    const name = await this.#pickWorkspace();
    if (name === "") return false;
    await this.#checkOut(WORKSPACES + name);
    if (random.below(2) === 0) {
      await this.#git.git(
        "commit",
        "--quiet",
        "--amend",
        "--allow-empty",
        "--message",
        files.name("Amended "),
      );
    } else {
      const parents = (await this.#git.git("log", "-1", "--format=%P")).trim().split(" ");
      if (parents[0] === "") return false;
      await this.#git.git("reset", "--quiet", "--hard", parents[0]!);
      await this.#commit();
    }
    return await this.#push(`+HEAD:${WORKSPACES}${name}`);
  }

  async #giveUp(): Promise<boolean> {
    const name = await this.#pickWorkspace();
    if (name === "") return false;
    this.#workspaces.delete(name);
    return await this.#push(`:${WORKSPACES}${name}`);
  }

  /** Pushes for a review, and merges it. */
  async #review(): Promise<boolean> {
    const { random, files } = this.#shared;
    if (await this.#pickBranch((ref) => ref === MAIN) === "") return false;
    await this.#commit();
    const topic = files.name("topic");
    await this.#push(`HEAD:refs/for/trunk/${topic}`);
    this.#workspaces.add(topic);
    if (random.below(2) === 0) {
      await this.#git.git("commit", "--quiet", "--amend", "--allow-empty", "--message", "Again");
      await this.#push(`HEAD:refs/for/trunk/${topic}`);
    }
    if (random.below(4) === 0) return true;
    const { reviews } = await this.#api.get<{ reviews: ReviewShown[] }>(`${API}/reviews`);
    const { id } = reviews.find(({ workspace }) => workspace === topic)!;
    await this.approver!.#call(`POST ${API}/reviews/${id}/approve`, {});
    if (await this.#call(`POST ${API}/reviews/${id}/merge`, {})) this.#workspaces.delete(topic);
    return true;
  }

  /** A push that knows only an older tip is refused. */
  async #stale(): Promise<boolean> {
    const ref = await this.#pickBranch();
    const { code } = await this.#git.run("checkout", "--quiet", "--detach", "HEAD~1");
    if (ref === "" || code !== 0) return false;
    await this.#commit();
    await this.#requireRefused(await this.#git.run("push", "origin", `HEAD:${ref}`));
    return true;
  }

  /** A branch loses no commits, also if a push is forced. */
  async #forced(): Promise<boolean> {
    const ref = await this.#pickBranch();
    const { code } = await this.#git.run("checkout", "--quiet", "--detach", "HEAD~1");
    if (ref === "" || code !== 0) return false;
    await this.#commit();
    const pushed = await this.#git.run("push", "origin", `+HEAD:${ref}`);
    await this.#requireRefused(pushed);
    assert.match(pushed.stderr, /non-fast-forward/);
    return true;
  }

  async #requireRefused({ code, stderr }: GitRun): Promise<void> {
    const { seen, log } = this.#shared;
    assert.notEqual(code, 0, stderr);
    const before = seen.refs;
    await seen.look(this.#git, log.at(-1) ?? "");
    assert.deepEqual(seen.refs, before);
  }

  async #several(): Promise<boolean> {
    const { random, files } = this.#shared;
    const ref = await this.#pickBranch();
    if (ref === "") return false;
    await this.#commit();
    const [branch, tag] = [files.name("branch"), files.name("tag")];
    await this.#git.git("tag", tag);
    const atomic = random.below(2) === 0 ? ["--atomic"] : [];
    await this.#git.git(
      "push",
      "--quiet",
      ...atomic,
      "origin",
      `HEAD:${ref}`,
      `HEAD:${HEADS}${branch}`,
      `${TAGS}${tag}:${TAGS}${tag}`,
    );
    const head = await this.#head();
    await this.#shared.seen.look(this.#git, "several");
    for (const one of [ref, HEADS + branch, TAGS + tag]) {
      assert.equal(this.#shared.seen.refs.get(one), head, one);
    }
    return true;
  }

  // fossil

  /** Runs `fossil` in the checkout. Returns whether it did something: conflicts leave it no room. */
  async #try(...args: readonly string[]): Promise<boolean> {
    const { code, stdout, stderr } = await this.#fossil.run(args, this.#checkout);
    this.#shared.log.push(`${this.name}: fossil ${args.join(" ")}: ${code}`);
    assert.ok(code < 128 && !BROKEN.test(stdout + stderr), stdout + stderr);
    return code === 0;
  }

  async #openBranches(): Promise<string[]> {
    const { stdout } = await this.#fossil.run(["branch", "list"], this.#checkout);
    return [...stdout.matchAll(/(?:^|\s)(trunk|branch\d+|feature\/a\d+|root\d+)(?=\s|$)/g)]
      .map((match) => match[1]!);
  }

  /** Brings the checkout to the tip of a random branch. */
  async #update(): Promise<boolean> {
    await this.#try("revert");
    await this.#try("pull");
    const branch = this.#shared.random.pick(["trunk", ...await this.#openBranches()]);
    return await this.#try("update", "--force-missing", branch);
  }

  async #fossilCommit(
    change: () => Promise<boolean>,
    ...more: readonly string[]
  ): Promise<boolean> {
    return await this.#update() && await change() && await this.#checkIn(...more);
  }

  #checkIn(...more: readonly string[]): Promise<boolean> {
    const message = this.#shared.files.name("check-in ");
    return this.#try("commit", "--no-warnings", "--allow-older", "-m", message, ...more);
  }

  async #fossilEdit(): Promise<boolean> {
    const { path, isNew } = this.#shared.files.edit(this.#checkout, { hasArtifacts: false });
    return !isNew || await this.#try("add", path);
  }

  #fossilFile(): string | null {
    const paths = this.#shared.files.list(this.#checkout).filter((path) =>
      !path.startsWith("links/")
    );
    return paths.length < 4 ? null : this.#shared.random.pick(paths);
  }

  async #fossilDelete(): Promise<boolean> {
    const path = this.#fossilFile();
    return path !== null && await this.#try("rm", "--hard", path);
  }

  async #fossilRename(): Promise<boolean> {
    const path = this.#fossilFile();
    if (path === null || !await this.#try("mv", "--hard", path, this.#shared.files.name("moved"))) {
      return false;
    }
    return this.#shared.random.below(2) === 0 || await this.#fossilEdit();
  }

  #fossilChmod(): Promise<boolean> {
    const path = this.#fossilFile();
    if (path !== null) this.#shared.files.changeMode(this.#checkout, path);
    return Promise.resolve(path !== null);
  }

  async #fossilMerge(): Promise<boolean> {
    if (!await this.#update()) return false;
    const branches = await this.#openBranches();
    if (branches.length === 0) return false;
    const { stdout } = await this.#fossil.run(
      ["merge", this.#shared.random.pick(branches)],
      this.#checkout,
    );
    if (!/conflict/i.test(stdout) && await this.#checkIn()) return true;
    await this.#try("revert");
    return false;
  }

  async #amend(): Promise<boolean> {
    if (!await this.#update()) return false;
    const own = await this.#fossil.fossil([
      "sql",
      "-R",
      this.#fossil.path("work.fossil"),
      `SELECT uuid FROM event JOIN blob ON objid=rid WHERE user='${this.name}' AND type='ci'
        AND NOT EXISTS(SELECT 1 FROM tagxref
          WHERE tagxref.rid=blob.rid AND tagid=8 AND value LIKE 'workspace/%') ORDER BY uuid`,
    ]);
    const checkins = own.match(/[0-9a-f]{40,}/g) ?? [];
    if (checkins.length === 0) return false;
    const comment = this.#shared.files.name("amended ");
    const checkin = this.#shared.random.pick(checkins);
    return await this.#try("amend", checkin, "--comment", comment) && await this.#try("sync");
  }

  async #close(): Promise<boolean> {
    if (!await this.#update()) return false;
    const { stdout } = await this.#fossil.run(["branch", "current"], this.#checkout);
    const branch = stdout.trim();
    if (branch === "trunk") return false;
    this.#shared.seen.closed(HEADS + branch);
    return await this.#try("amend", "current", "--close") && await this.#try("sync");
  }

  /** Commits beside the tip of a branch. */
  async #fork(): Promise<boolean> {
    if (!await this.#update() || !await this.#try("update", "--force-missing", "prev")) {
      return false;
    }
    return await this.#fossilEdit() && await this.#checkIn("--allow-fork");
  }

  async #fossilWorkspace(): Promise<boolean> {
    const own = [...this.#workspaces];
    if (own.length === 0 || !await this.#update()) return false;
    const branch = `workspace/${this.#shared.random.pick(own)}`;
    return await this.#try("update", "--force-missing", branch) && await this.#fossilEdit() &&
      await this.#checkIn();
  }

  // API

  /** Sends a request. Returns whether it did something; a conflict with others is no failure. */
  async #call(request: string, body: unknown): Promise<boolean> {
    const answer = await this.#api.send(request, body);
    const status = answer?.status ?? 0;
    this.#shared.log.push(`${this.name}: ${request}: ${status}`);
    const awaitsReview = status === 403 && /code review is 'pending'/.test(JSON.stringify(answer));
    const isExpected = status < 300 || [400, 404, 409].includes(status) || awaitsReview;
    assert.ok(answer !== null && isExpected, `${request}: ${JSON.stringify(answer)}`);
    return status < 300;
  }

  /** Commits to an own workspace, which may be a new one. */
  async #apiWorkspace(): Promise<boolean> {
    const { random, files } = this.#shared;
    const own = [...this.#workspaces];
    const isNew = own.length === 0 || random.below(2) === 0;
    const name = isNew ? files.name("w") : random.pick(own);
    if (isNew) {
      if (!await this.#call(`POST ${API}/workspaces/create`, { name })) return false;
      this.#workspaces.add(name);
    }
    const changes = [
      { path: files.path(), content: files.name("by API ") },
      {
        path: "by-api.bin",
        content_base64: btoa(String.fromCharCode(...files.content().slice(0, 900))),
      },
    ];
    const body = { message: files.name("by API "), changes: [random.pick(changes)] };
    return await this.#call(`POST ${API}/workspaces/${name}/commit`, body);
  }

  async #apiMerge(): Promise<boolean> {
    const own = [...this.#workspaces];
    if (own.length === 0) return false;
    const name = this.#shared.random.pick(own);
    if (!await this.#call(`POST ${API}/workspaces/${name}/merge`, {})) return false;
    return this.#workspaces.delete(name);
  }

  async #apiAbandon(): Promise<boolean> {
    const own = [...this.#workspaces];
    if (own.length === 0 || this.#shared.random.below(2) === 0) return false;
    const name = this.#shared.random.pick(own);
    if (!await this.#call(`DELETE ${API}/workspaces/${name}/abandon`, {})) return false;
    return this.#workspaces.delete(name);
  }
}
