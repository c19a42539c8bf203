/** Names of files that harm a checkout or an unpacked archive, and names that Fossil reads otherwise. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  caseCollision,
  encodeUtf8,
  type FileChange,
  isFileName,
  isHarmfulPath,
  nameFault,
  pathFault,
  readArchive,
  Reader,
  writeRelease,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture } from "./support/fixture.ts";
import { peer } from "../../../support/peers.ts";

const HARMFUL = [
  ".git/config",
  ".GIT/hooks/post-checkout",
  "sub/.git/config",
  ".git",
  "git~1/config",
  "GIT~1",
  ".git /config",
  ".git.../config",
  ".g\u200cit/config",
  ".gi\ufefft/config",
  "\u202e.git/config",
  ".git::$INDEX_ALLOCATION/config",
  "C:\\Windows\\win.ini",
  "c:evil",
  "a\\..\\..\\b",
  "a\nb",
];

const UNPORTABLE = [
  "CON",
  "con.txt",
  "src/NUL.txt",
  "aux .c",
  "COM1",
  "lpt9.log",
  "conin$",
  "trailing.",
  "trailing ",
  "folder./a",
  "folder /a",
  "what?",
  "a*",
  "a:stream",
  "exe\u202etxt.gpj",
  "x".repeat(256),
  `${"ö".repeat(128)}/a`,
];

const FINE = [
  "README",
  ".gitignore",
  ".github/workflows/ci.yml",
  "git/a",
  ".gitmodules",
  "git~2",
  "console.ts",
  "auxiliary/nullable.c",
  "comm/com10.c",
  "a file.txt",
  "pages/[id].tsx",
  "日本語/ключ.md",
  "👩‍💻.txt",
  "a..b/.c",
  "~/$HOME",
  "x".repeat(255),
];

const put = (path: string, text = path): FileChange => ({
  kind: "write",
  path,
  content: encodeUtf8(text),
});

Deno.test("a new file gets no name that harms checkouts on any system", () => {
  using fixture = new Fixture();
  for (const path of [...HARMFUL, ...UNPORTABLE]) {
    assert.notEqual(pathFault(path), null, path);
    assert.throws(() => fixture.commit([put(path)]), /^FossilError: File ".*" has/s, path);
  }
  for (const path of FINE) assert.equal(pathFault(path), null, path);
  fixture.commit(FINE.map((path) => put(path)));
  assert.throws(() => fixture.commit([{ kind: "move", from: "README", path: "a/.Git/x" }]), /Git/);
});

Deno.test("a file keeps the name that an import gave it, and can be moved away from it", () => {
  using fixture = new Fixture();
  fixture.commit([put("aux.c"), put("readme"), put("README")], { anyNames: true });
  fixture.commit([put("aux.c", "changed"), put("other")]);
  fixture.commit([{ kind: "move", from: "aux.c", path: "auxiliary.c" }]);
  assert.throws(() => fixture.commit([put("ReadMe")]), /"ReadMe" differs from "README" only in/);
});

Deno.test("no two paths of a tree differ only in case", () => {
  const cases: [string[], string, string | null][] = [
    [["README"], "readme", "README"],
    [["src/a"], "SRC/A", "src/a"],
    [["src/a"], "Src", "src/a"],
    [["Src"], "src/a", "Src"],
    [["stra\u00dfe/\u00e9"], "stra\u00dfe/e\u0301", "stra\u00dfe/\u00e9"],
    [["src/a"], "Src/b", null],
    [["a"], "b", null],
  ];
  for (const [tree, path, other] of cases) {
    const found = caseCollision([...tree, path], [path]);
    assert.deepEqual(found, other === null ? null : { path, other });
  }
  assert.deepEqual(caseCollision(["a", "A"], ["a", "A"]), { path: "A", other: "a" });
});

/** A segment as a file system compares it that ignores what NTFS and HFS+ ignore. */
function canonical(segment: string): string {
  return [...segment.split(":")[0]!.normalize("NFD")]
    .filter((it) => !/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/.test(it))
    .join("").toLowerCase().replace(/[. ]+$/, "");
}

const pieces = fc.constantFrom(
  ...[
    ".git",
    ".GIT",
    "git~1",
    "gi",
    "t",
    ".",
    " ",
    ":",
    "~1",
    "\u200c",
    "\ufeff",
    "a",
    "con",
    "\\",
  ],
);
const hostile = fc.array(
  fc.array(pieces, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("")),
  { minLength: 1, maxLength: 3 },
).map((segments) => segments.join("/")).filter(isFileName);

Deno.test("no path that a file system takes for a folder of Git passes, however it is written", () => {
  fc.assert(
    fc.property(hostile, (path) => {
      const isGit = path.split("/").some((it) => [".git", "git~1"].includes(canonical(it)));
      if (isGit) assert.ok(pathFault(path) !== null && isHarmfulPath(path), path);
      if (isHarmfulPath(path)) assert.notEqual(pathFault(path), null, path);
    }),
    { numRuns: 5000 },
  );
});

Deno.test("a path of plain names passes", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_-]{7,12}(?:\.[a-z]{1,4})?$/);
  fc.assert(fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (segments) => {
    assert.equal(pathFault(segments.join("/")), null);
  }));
});

Deno.test({
  name: "what git refuses to add is refused",
  ...peer("git"),
  fn: () => {
    using fixture = new Fixture();
    const folder = fixture.scratch.path("git");
    const git = (args: string[]) => new Deno.Command("git", { args, stderr: "null" }).outputSync();
    git(["init", "-q", folder]);
    const options = ["-C", folder, "-c", "core.protectHFS=true", "-c", "core.protectNTFS=true"];
    const blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    for (const path of [...HARMFUL, ...UNPORTABLE, ...FINE]) {
      const info = `100644,${blob},${path}`;
      const { success } = git([...options, "update-index", "--add", "--cacheinfo", info]);
      if (!success) assert.ok(pathFault(path) !== null && isHarmfulPath(path), path);
      if (FINE.includes(path)) assert.ok(success, path);
    }
  },
});

Deno.test("an archive leaves out files that would be unpacked where they should not be", () => {
  using fixture = new Fixture();
  const link = { kind: "write", path: "Link", content: encodeUtf8("/etc"), mode: "link" } as const;
  fixture.commit(
    [...HARMFUL.filter((path) => path !== ".git").map((path) => put(path)), put("aux.c"), link]
      .concat([put("link/passwd"), { ...link, path: "harmless" }]),
    { anyNames: true },
  );
  for (const format of ["zip", "tar.gz"] as const) {
    const archive = readArchive(new Reader(fixture.repository), { format, folder: "a" });
    let step = archive.next();
    while (step.done !== true) step = archive.next();
    const paths = step.value.first_left_out.map(({ path }) => path).toSorted();
    assert.deepEqual(paths, [...HARMFUL.filter((it) => it !== ".git"), "Link"].toSorted());
    assert.equal(step.value.left_out, HARMFUL.length);
  }
});

Deno.test("a branch or tag gets no name that stands for something else", () => {
  using fixture = new Fixture();
  const checkin = fixture.commit([put("a")]);
  const names = [
    "tip",
    "current",
    "prev",
    "previous",
    "next",
    "root:trunk",
    "start:trunk",
    "merge-in:trunk",
    "tag:v1",
    "rid:1",
    "date:2026-01-01",
    "local:2026-01-01",
    "utc:now",
    "trunk:2026-01-01",
    "2026-01-01",
    "20260101",
    "202601011200",
    "cafe",
    "DEADBEEF",
    checkin,
    checkin.slice(0, 10),
    "[abcd]",
  ];
  for (const name of names) {
    assert.notEqual(nameFault(name), null, name);
    assert.throws(() => writeRelease(fixture.repository, { ...fixture.author(), name, checkin }));
    assert.throws(() => fixture.commit([put("b")], { branch: name }), /FossilError: The name/);
  }
  const trunk = { ...fixture.author(), name: "trunk", checkin };
  assert.throws(() => writeRelease(fixture.repository, trunk), /is the name of a branch/);
  for (const name of ["v1.0", "abc", "workspace/cafe", "20-26", "next-release", "trunk2", "Tip"]) {
    assert.equal(nameFault(name), null, name);
  }
});
