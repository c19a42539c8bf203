/** Random lines of development to be merged. */
import {
  type FileChange,
  type Repository,
  writeBranch,
  writeCheckin,
  writeMerge,
} from "../../../../../services/engines/fossil/mod.ts";
import { encode } from "./fossil.ts";
import { History } from "./history.ts";
import { Random } from "./random.ts";

/** A file while it is being edited. */
interface Draft {
  lines: string[];
  mode: "file" | "executable";
}

const FOLDERS = ["", "src/", "src/deep/", "doc/"];
/** Lines that stand in a text many times, as they do in programs. */
const COMMON_LINES = ["", "}", "  return;", "# ---"];

/** Two branches, "left" and "right", from one check-in of a repository. */
export class Divergence {
  readonly #repository: Repository;
  readonly #random: Random;
  readonly #trees = new Map<string, Map<string, Draft>>();
  #now = History.start;
  #serial = 0;
  left: string;
  right: string;

  constructor(repository: Repository, seed: number, options: { files?: number } = {}) {
    const { files = 8 } = options;
    this.#repository = repository;
    this.#random = new Random(seed);
    const tree = new Map<string, Draft>();
    for (let i = 0; i < files; i++) {
      const lines = Array.from({ length: 4 + this.#random.below(30) }, () => this.#line());
      tree.set(this.#path(), { lines, mode: "file" });
    }
    const start = this.#commit(null, tree);
    [this.left, this.right] = ["left", "right"].map((name) => {
      const hash = writeBranch(repository, { ...this.author(), from: start, name });
      this.#trees.set(hash, tree);
      return hash;
    }) as [string, string];
  }

  author() {
    return { user: "alice", date: this.#now += 60_000 };
  }

  #line(): string {
    if (this.#random.below(4) === 0) return this.#random.pick(COMMON_LINES);
    return `line ${++this.#serial} ${"word ".repeat(this.#random.below(6))}`;
  }

  #path(): string {
    return `${this.#random.pick(FOLDERS)}file${++this.#serial}.txt`;
  }

  /** A check-in on top of each branch. */
  advance(edits: number): void {
    this.left = this.#commit(this.left, this.#edited(this.left, edits));
    this.right = this.#commit(this.right, this.#edited(this.right, edits));
  }

  /** Merges each branch into the other one, where that goes without a conflict. */
  cross(): void {
    const { left, right } = this;
    const [into, back] = [[left, right], [right, left]].map(([ours, theirs]) => {
      const sides = { ours: ours!, theirs: theirs! };
      const merge = { ...this.author(), ...sides, allowFork: true };
      return writeMerge(this.#repository, merge).checkin;
    });
    if (into === null || back === null) return;
    this.#trees.set(into!, this.#read(into!));
    this.#trees.set(back!, this.#read(back!));
    [this.left, this.right] = [into!, back!];
  }

  #read(checkin: string): Map<string, Draft> {
    return new Map(
      treeOf(this.#repository, checkin).entries().map(([path, { text, mode }]) => [
        path,
        { lines: text.split("\n").slice(0, -1), mode: mode === "executable" ? mode : "file" },
      ]),
    );
  }

  #edited(parent: string, edits: number): Map<string, Draft & { from?: string }> {
    const random = this.#random;
    const tree = new Map<string, Draft & { from?: string }>(
      this.#trees.get(parent)!.entries().map((
        [path, { lines, mode }],
      ) => [path, { lines: [...lines], mode, from: path }]),
    );
    for (let i = 0; i < edits; i++) {
      const path = random.pick([...tree.keys()]);
      const file = tree.get(path)!;
      const deed = random.below(12);
      if (deed === 0 && tree.size > 3) tree.delete(path);
      else if (deed === 1) {
        tree.delete(path);
        tree.set(this.#path(), file);
      } else if (deed === 2) {
        tree.set(this.#path(), { lines: [this.#line(), this.#line()], mode: "file" });
      } else if (deed === 3) file.mode = file.mode === "file" ? "executable" : "file";
      else {
        const at = random.below(file.lines.length + 1);
        const added = Array.from({ length: random.below(3) }, () => this.#line());
        file.lines.splice(at, random.below(3), ...added);
      }
    }
    return tree;
  }

  #commit(parent: string | null, tree: Map<string, Draft & { from?: string }>): string {
    const before = parent === null ? new Map<string, Draft>() : this.#trees.get(parent)!;
    const changes: FileChange[] = [];
    const kept = new Set<string>();
    for (const [path, { lines, mode, from }] of tree) {
      const content = encode(lines.map((line) => `${line}\n`).join(""));
      if (from !== undefined) kept.add(from);
      if (from === undefined || from === path) {
        changes.push({ kind: "write", path, content, mode });
      } else changes.push({ kind: "move", from, path, content, mode });
    }
    for (const path of before.keys()) {
      if (!kept.has(path)) changes.push({ kind: "delete", path });
    }
    const checkin = { ...this.author(), parent, comment: `commit ${++this.#serial}`, changes };
    const hash = writeCheckin(this.#repository, { ...checkin, allowFork: true, allowEmpty: true });
    this.#trees.set(hash, tree);
    return hash;
  }
}

/** Texts and modes of a check-in's files by path. */
export function treeOf(
  repository: Repository,
  checkin: string,
): Map<string, { text: string; mode: string }> {
  const artifact = repository.artifact(repository.ridOf(checkin));
  if (artifact?.kind !== "manifest") throw new Error("no check-in");
  return new Map(artifact.files.map(({ name, hash, mode }) => {
    const content = repository.store.require(repository.ridOf(hash ?? ""));
    return [name, { text: new TextDecoder().decode(content), mode }];
  }));
}
