/** Pushes by a writer who keeps to no rule, to a repository with a judge. */
import assert from "node:assert/strict";
import {
  type Artifact,
  formatArtifact,
  FossilError,
  type Manifest,
  type PushRules,
  type Repository,
  sha3,
  type TagCard,
  writeCheckin,
} from "../../../../../services/engines/fossil/mod.ts";
import { writeJudged } from "../../../../../services/engines/fossil/sync/mod.ts";
import { Fixture, put } from "./fixture.ts";
import { dumpTables } from "./tables.ts";

export const NOW = Date.parse("2027-01-01T00:00:00Z");
export const MINUTE = 60_000;

/** The rules of `bob`, a writer: trunk is protected, and so is everybody else's workspace. */
export const RULES: PushRules = {
  pusher: "bob",
  users: ["bob"],
  role: "write",
  latest: NOW + 5 * MINUTE,
  branches: [
    { pattern: "trunk", refusal: "only admins can push to it" },
    { pattern: "release-*", refusal: "only admins can push to it" },
    { pattern: "landing/*", refusal: "only the landing queue writes to it" },
    { pattern: "workspace/*", refusal: "there is no active workspace of this name" },
  ],
  merges: [{ pattern: "stable", refusal: "only admins can merge to it" }],
  workspaces: { "workspace/bobs": null, "workspace/anns": 'it belongs to "ann"' },
  files: [],
  hasBounds: true,
  closedKinds: {},
};

export const ADMIN: PushRules = {
  ...RULES,
  pusher: "root",
  users: null,
  role: "admin",
  branches: [],
};

/** A repository with a protected trunk and two workspaces. */
export class Scene extends Fixture {
  readonly trunk: string;
  readonly bobs: string;
  readonly anns: string;

  constructor() {
    super();
    this.trunk = this.commit([put("README", "text\n".repeat(30))], { user: "ann" });
    this.bobs = this.#branch("workspace/bobs", "bob");
    this.anns = this.#branch("workspace/anns", "ann");
  }

  #branch(branch: string, user: string): string {
    return writeCheckin(this.repository, {
      ...this.author(user),
      parent: this.trunk,
      comment: "start",
      branch,
      changes: [put(`${user}.txt`, "a")],
    });
  }

  push(rules: PushRules, ...contents: readonly (Artifact | Uint8Array)[]): string[] {
    const origin = { user: rules.pusher, ip: null };
    return writeJudged(this.repository, { origin, rules }, () =>
      contents.map((content) => {
        const bytes = content instanceof Uint8Array ? content : formatArtifact(content);
        const { rid } = this.repository.receive(bytes);
        return this.repository.store.hashOf(rid) ?? "";
      }));
  }

  /** Asserts that a push is refused with a sentence, and leaves nothing. */
  refuses(sentence: RegExp, ...contents: readonly (Artifact | Uint8Array)[]): void {
    this.repository.checkpoint();
    const before = dumpTables(this.path);
    const blobs = countOf(this.repository);
    assert.throws(
      () => this.push(RULES, ...contents),
      (error: unknown) => {
        assert.ok(error instanceof FossilError, String(error));
        assert.match(error.message, /^[A-Z][^\n]{8,300}[^.]$/);
        assert.match(error.message, sentence);
        return error.code === "conflict";
      },
    );
    assert.equal(countOf(this.repository), blobs);
    assert.deepEqual(dumpTables(this.path), before);
  }

  branchOf(hash: string): string | undefined {
    return this.repository.db.value<string>(
      "SELECT value FROM tagxref WHERE tagid=8 AND tagtype>0 AND rid=?",
      this.repository.ridOf(hash),
    );
  }
}

function countOf({ db }: Repository): number | undefined {
  return db.value<number>("SELECT count(*) FROM blob");
}

export function checkin(parent: string | null, more: Partial<Manifest> = {}): Manifest {
  return {
    kind: "manifest",
    baseline: null,
    comment: "pushed",
    date: NOW,
    files: [],
    mimetype: null,
    parents: parent === null ? [] : [parent],
    cherrypicks: [],
    checksum: "d41d8cd98f00b204e9800998ecf8427e",
    tags: [],
    user: "bob",
    ...more,
  };
}

export function tag(
  sign: TagCard["sign"],
  name: string,
  target: string | null,
  value?: string,
): TagCard {
  return { sign, name, target, value: value ?? null };
}

/** The cards that start a branch. */
export function starting(branch: string, ...cancelled: readonly string[]): TagCard[] {
  return [
    tag("*", "branch", null, branch),
    tag("*", `sym-${branch}`, null),
    ...cancelled.map((name) => tag("-", `sym-${name}`, null)),
  ];
}

export function control(...tags: readonly TagCard[]): Artifact {
  return { kind: "control", date: NOW, tags, user: "bob" };
}

export function hashOf(artifact: Artifact): string {
  return sha3(formatArtifact(artifact));
}
