/** Random trees, names and sizes: what goes in comes out, here and in the `fossil` program. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import {
  encodeUtf8,
  type FileChange,
  type FileMode,
  filesOf,
  isFileName,
  isReservedFileName,
  parseArtifact,
} from "../../../../services/engines/fossil/mod.ts";
import { peer } from "../../../support/peers.ts";
import { Fixture } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { judged, judges } from "./support/judges.ts";
import { anyCharacter } from "../../../support/any_character.ts";

const added = encodeUtf8("something else\n");

/** What a tree should hold, by path. */
type Model = Map<string, { readonly content: Uint8Array; readonly mode: FileMode }>;

/** Any character that Unicode has, but what cannot stand in the name of a file. */
const character = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
  fc.constantFrom(..."aA.-~ \\\t\n\r\x7f\"'*?:|<>$%#@[](){}=;,&!^`\u0301é"),
);
const segment = fc.string({ unit: character, minLength: 1, maxLength: 12 })
  .map((text) => text.replace(/[/\0]/g, "-"));
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"))
  .filter((name) => isFileName(name) && !isReservedFileName(name));
const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.array(fc.constantFrom("a line", "another line", "}", ""), { maxLength: 200 })
    .map((lines) => encodeUtf8(lines.join("\n"))),
).filter((bytes) => parseArtifact(bytes) === null);

/** One thing done to a tree; `at` picks the file. */
const edit = fc.record({
  deed: fc.constantFrom("write", "write", "write", "change", "move", "delete", "mode"),
  at: fc.nat(),
  path,
  content,
  mode: fc.constantFrom<FileMode>("file", "executable"),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

const commits = fc.array(fc.array(edit, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 6,
});

/** Whether a path can be added: no file and folder of one name. */
function fits(model: Model, name: string): boolean {
  return [...model.keys()].every((other) =>
    other !== name && !other.startsWith(`${name}/`) && !name.startsWith(`${other}/`)
  );
}

/** Applies an edit to a tree and returns its change; null if it does not fit. */
function applied(model: Model, touched: Set<string>, edit: Edit): FileChange | null {
  const { deed, path, content, mode } = edit;
  const old = [...model.keys()][edit.at % Math.max(model.size, 1)] ?? "";
  const file = model.get(old);
  if (deed === "write") {
    if (!fits(model, path) || touched.has(path)) return null;
    model.set(path, { content, mode });
    return { kind: "write", path, content, mode };
  }
  if (file === undefined || touched.has(old)) return null;
  switch (deed) {
    case "change":
      model.set(old, { ...file, content });
      return { kind: "write", path: old, content };
    case "delete":
      model.delete(old);
      return { kind: "delete", path: old };
    case "mode":
      model.set(old, { ...file, mode });
      return { kind: "mode", path: old, mode };
    case "move":
      model.delete(old);
      if (!fits(model, path) || touched.has(path)) {
        model.set(old, file);
        return null;
      }
      model.set(path, file);
      return { kind: "move", from: old, path };
  }
}

/** Commits edits and returns the check-in, or null if nothing was changed. */
function commit(fixture: Fixture, model: Model, edits: readonly Edit[]): string | null {
  const changes: FileChange[] = [];
  const touched = new Set<string>();
  for (const edit of edits) {
    const change = applied(model, touched, edit);
    if (change === null) continue;
    changes.push(change);
    touched.add(change.path);
    if (change.kind === "move") touched.add(change.from);
  }
  if (changes.length === 0) return null;
  return fixture.commit(changes, { allowEmpty: true, anyNames: true });
}

function assertTree(fixture: Fixture, checkin: string, model: Model): void {
  const { repository } = fixture;
  const manifest = repository.artifact(repository.ridOf(checkin));
  assert.ok(manifest?.kind === "manifest");
  const files = filesOf(repository, manifest).map(({ name, hash, mode }) => {
    const content = repository.store.require(repository.ridOf(hash ?? ""));
    return [name, { content, mode }] as const;
  });
  assert.deepEqual(new Map(files), model);
}

/** Every file below a folder, as a checkout has it. */
function filesBelow(folder: string, prefix = ""): Model {
  const files: Model = new Map();
  for (const { name, isDirectory } of Deno.readDirSync(`${folder}/${prefix}`)) {
    if (prefix === "" && /^\.fslckout/.test(name)) continue;
    const path = prefix + name;
    if (isDirectory) {
      for (const [inner, file] of filesBelow(folder, `${path}/`)) files.set(inner, file);
      continue;
    }
    const isExecutable = ((Deno.statSync(`${folder}/${path}`).mode ?? 0) & 0o100) !== 0;
    const mode = isExecutable ? "executable" : "file";
    files.set(path, { content: Deno.readFileSync(`${folder}/${path}`), mode });
  }
  return files;
}

/** Whether a check-in amends the tree of an earlier one. */
function isAmending({ repository }: Fixture, checkin: string): boolean {
  const manifest = repository.artifact(repository.ridOf(checkin));
  return manifest?.kind === "manifest" && manifest.baseline !== null;
}

/**
 * Makes the commits on top of a tree of some files, and compares each of the trees with its model.
 *
 * @returns how many check-ins amend the tree of an earlier one
 */
function assertTrees(program: string, files: number, commits: readonly (readonly Edit[])[]) {
  using fixture = new Fixture(program);
  const model: Model = new Map(Array.from({ length: files }, (_, i) => {
    const content = encodeUtf8(`${i}\n`.repeat(20));
    return [`d${i % 7}/${i % 13}/file ${i}`, { content, mode: "file" as const }];
  }));
  const first = [...model].map(([path, file]) => ({ kind: "write" as const, path, ...file }));
  if (files > 0) fixture.commit(first);
  const trees: [string, Model][] = [];
  for (const edits of commits) {
    const checkin = commit(fixture, model, edits);
    if (checkin !== null) trees.push([checkin, new Map(model)]);
  }
  fixture.repository.store.dropCaches();
  for (const [checkin, tree] of trees) assertTree(fixture, checkin, tree);
  fixture.assertSound();
  const folder = fixture.scratch.path("checkout");
  Deno.mkdirSync(folder);
  fixture.scratch.fossil(["open", "--nosync", fixture.path], folder);
  assert.deepEqual(filesBelow(folder), model);
  return trees.filter(([checkin]) => isAmending(fixture, checkin)).length;
}

judged("random trees with files of any name are what fossil checks out", (program) => {
  fc.assert(
    fc.property(commits, (commits) => {
      assertTrees(program, 0, commits);
    }),
    { numRuns: 15, seed: 20261121 },
  );
});

judged("random changes to a large tree are what fossil checks out", (program) => {
  let amending = 0;
  fc.assert(
    fc.property(commits, (commits) => {
      amending += assertTrees(program, 300, commits);
    }),
    { numRuns: 10, seed: 20261129 },
  );
  assert.ok(amending > 10);
});

const ANY_SIZE = "files of any size, and changes anywhere in them, are what fossil reads";

Deno.test(ANY_SIZE, peer("fossil"), () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const sizes = [0, 1, 15, 16, 17, 49, 50, 51, 4095, 65_535, 65_536, 1_000_003, 20 * 1024 * 1024];
  const text = (size: number) => encodeUtf8("a line of text, repeated\n".repeat(size / 25 + 1));
  const contents = sizes.flatMap((size) => {
    const noise = new Uint8Array(randomBytes(size));
    if (size > 10_000_000) return [noise, withChange(noise)];
    return [noise, text(size).slice(0, size)].flatMap((content) => [
      content,
      joined(added, content),
      withChange(content),
      joined(content, added),
      content.slice(0, size >> 1),
    ]);
  });
  const hashes = repository.write({ user: "alice", ip: null }, () => {
    const rids = contents.map((content) => repository.receive(content).rid);
    rids.forEach((rid, i) => repository.store.deltify(rid, rids[i + 1] ?? 0));
    return rids.map((rid) => repository.store.hashOf(rid) ?? "");
  });
  repository.store.dropCaches();
  hashes.forEach((hash, i) => {
    const content = repository.store.require(repository.ridOf(hash));
    assert.ok(areEqual(content, contents[i]!), `${contents[i]!.length} bytes`);
  });
  repository.checkpoint();
  for (const program of judges()) {
    using judge = new Scratch(program);
    assert.match(judge.fossil(["test-integrity", "-R", fixture.path]), / 0 errors/);
    const target = judge.path("content");
    for (const [i, hash] of hashes.entries()) {
      if (i % 4 !== 0) continue;
      judge.fossil(["artifact", hash, target, "-R", fixture.path]);
      assert.ok(areEqual(Deno.readFileSync(target), contents[i]!), `${contents[i]!.length} bytes`);
    }
  }
});

/** Content with something put into its middle. */
function withChange(content: Uint8Array): Uint8Array {
  const half = content.length >> 1;
  return joined(content.subarray(0, half), added, content.subarray(half));
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
