/** Runs the `git` program, and makes random histories for it. */
import { Buffer } from "node:buffer";
import {
  encodeUtf8,
  exportGit,
  type GitImportOptions,
  type GitImportReport,
  importGitStream,
  Repository,
} from "../../../../../services/engines/fossil/mod.ts";
import { encode, type Scratch } from "./fossil.ts";
import { Random } from "./random.ts";

/** Runs `git` with nothing of the machine's settings and gives its standard output. */
export function git(scratch: Scratch, folder: string, args: readonly string[], stdin?: Uint8Array) {
  const input = scratch.write("stdin", stdin ?? "");
  const { code, stdout, stderr } = new Deno.Command("sh", {
    args: ["-c", 'exec git "$@" < "$0"', input, "-C", scratch.path(folder), ...args],
    clearEnv: true,
    env: { HOME: scratch.folder, PATH: Deno.env.get("PATH") ?? "", LC_ALL: "C.UTF-8" },
  }).outputSync();
  if (code !== 0) {
    throw new Error(`git ${args.join(" ")}: ${code}\n${new TextDecoder().decode(stderr)}`);
  }
  return stdout;
}

/** Makes an empty Git repository. */
export function initGit(scratch: Scratch, folder: string): void {
  Deno.mkdirSync(scratch.path(folder));
  git(scratch, folder, ["init", "-q", "--bare", "-b", "main"]);
}

/** Every reference with the hash of what it points at: equal where the histories are. */
export function refsOf(scratch: Scratch, folder: string): string[] {
  const format = "--format=%(refname) %(objectname)";
  return new TextDecoder().decode(git(scratch, folder, ["for-each-ref", format])).split("\n");
}

const PATHS = [
  "a.txt",
  "b.txt",
  "folder/c.txt",
  "folder/deep/d.txt",
  "with space/e f.txt",
  "ünï/😀.txt",
  'quo"te\\back.txt',
  "tab\there.txt",
  "folder2",
  "\ue000.bin",
];
const PEOPLE = [
  "A Ü <a@b>",
  "alice <alice>",
  "No Address <>",
  " <only@address>",
  '"Quoted" O\'Neil <q@x.y>',
];
const MESSAGES = ["one line\n", "no end", "two\n\nparts\n", "", "  spaces \n\n\n", "tab\t😀 \\n\n"];
const ZONES = ["+0000", "+0200", "-0330", "+1245"];

/** A random history as a stream for `git fast-import`. */
export class GitHistory {
  readonly #random: Random;
  readonly #out: string[] = [];
  readonly #commits: { mark: number; files: Set<string> }[] = [];
  readonly #branches = new Map<string, number>();
  #mark = 0;
  #seconds = 1_600_000_000;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  stream(commits: number): Uint8Array {
    for (let i = 0; i < commits; i++) this.#commit();
    for (const name of ["v1", "v2.0", "folder/v3"]) this.#tag(name);
    const tip = this.#random.pick(this.#commits).mark;
    this.#out.push(`reset refs/heads/points-back\nfrom :${tip}\n\n`);
    this.#out.push(`reset refs/tags/plain\nfrom :${this.#random.pick(this.#commits).mark}\n\n`);
    return encode(this.#out.join(""));
  }

  #signature(): string {
    this.#seconds += this.#random.below(5000) - 500;
    return `${this.#random.pick(PEOPLE)} ${this.#seconds} ${this.#random.pick(ZONES)}`;
  }

  #data(text: string): string {
    return `data ${encode(text).length}\n${text}\n`;
  }

  #commit(): void {
    const random = this.#random;
    const branch = random.pick(["main", "main", "feature", "topic/deep"]);
    const from = this.#branches.get(branch) ??
      (random.below(6) === 0 ? undefined : this.#commits.length - 1);
    const parent = from === undefined || from < 0 ? undefined : this.#commits[from];
    const other = random.below(4) === 0 && parent !== undefined
      ? random.pick(this.#commits)
      : undefined;
    const files = new Set(parent?.files);
    const ref = `refs/heads/${branch}`;
    const author = this.#signature();
    const committer = random.below(2) === 0 ? author : this.#signature();
    if (parent === undefined) this.#out.push(`reset ${ref}\n`);
    this.#out.push(
      `commit ${ref}\nmark :${++this.#mark}\nauthor ${author}\ncommitter ${committer}\n`,
      this.#data(random.pick(MESSAGES)),
    );
    const mark = this.#mark;
    if (parent !== undefined) this.#out.push(`from :${parent.mark}\n`);
    if (other !== undefined && other !== parent) this.#out.push(`merge :${other.mark}\n`);
    for (let i = random.below(4); i >= 0; i--) this.#change(files);
    this.#out.push("\n");
    this.#commits.push({ mark, files });
    this.#branches.set(branch, this.#commits.length - 1);
  }

  #change(files: Set<string>): void {
    const random = this.#random;
    const path = random.pick(PATHS);
    const quoted = JSON.stringify(path);
    if (files.has(path) && random.below(4) === 0) {
      files.delete(path);
      this.#out.push(`D ${quoted}\n`);
      return;
    }
    const old = random.pick([...files, path]);
    if (old !== path && random.below(3) === 0) {
      files.delete(old);
      files.add(path);
      this.#out.push(`R ${JSON.stringify(old)} ${quoted}\n`);
      return;
    }
    files.add(path);
    const mode = random.pick(["100644", "100644", "100755", "120000"]);
    const lines = Array.from({ length: 1 + random.below(8) }, () => `line ${random.below(50)}`);
    this.#out.push(`M ${mode} inline ${quoted}\n`, this.#data(lines.join("\n")));
  }

  #tag(name: string): void {
    const tagger = this.#random.below(3) === 0 ? "" : `tagger ${this.#signature()}\n`;
    this.#out.push(
      `tag ${name}\nfrom :${this.#random.pick(this.#commits).mark}\n${tagger}`,
      this.#data(this.#random.pick(MESSAGES)),
    );
  }
}

/** A stream that comes in small pieces of odd sizes. */
export async function* inPieces(stream: Uint8Array, size = 97): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < stream.length; i += size) {
    yield await Promise.resolve(stream.subarray(i, i + size));
  }
}

/** Imports into a new repository of a scratch folder. */
export async function imported(
  scratch: Scratch,
  stream: Uint8Array | string,
  options: GitImportOptions = {},
): Promise<{ repository: Repository; report: GitImportReport }> {
  const path = scratch.path(`${crypto.randomUUID()}.fossil`);
  const bytes = typeof stream === "string" ? encodeUtf8(stream) : stream;
  const report = await importGitStream(path, { admin: "alice" }, inPieces(bytes), options);
  return { repository: Repository.open(path), report };
}

/** The whole stream that a repository is exported as. */
export function exported(repository: Repository): Uint8Array {
  return Buffer.concat([...exportGit(repository)]);
}

/** A name and a moment of a stream. */
export const AUTHOR = "A Ü <a@b> 1600000000 +0200";

/** A commit of a stream. */
export function commit(ref: string, lines: string, from = ""): string {
  return `commit ${ref}\nauthor ${AUTHOR}\ncommitter ${AUTHOR}\ndata 2\nm\n\n${from}${lines}\n`;
}
