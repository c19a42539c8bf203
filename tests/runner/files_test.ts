import assert from "node:assert/strict";
import { join } from "node:path";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { Header } from "tar";
import { findArtifacts, hashesOf, openInside, pack, unpack } from "../../runner/files/mod.ts";
import { PathPattern } from "../../runner/files/patterns.ts";
import { withFolder } from "../support/temporary.ts";

/** Writes files below a folder. */
async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
}

Deno.test("patterns of artifacts fit as their words say", () => {
  const table = [
    ["coverage/**", "coverage/a/b.txt", true],
    ["coverage", "coverage/a/b.txt", true],
    ["coverage/", "coverage", true],
    ["**/*.xml", "a.xml", true],
    ["**/*.xml", "a/b/c.xml", true],
    ["*.xml", "a/b.xml", false],
    ["a/*/c", "a/b/c", true],
    ["a/*/c", "a/b/b/c", false],
    ["a/**/c", "a/c", true],
    ["a?c", "abc", true],
    ["a*b*c", "a--b--b--c", true],
    ["a*b*c", "a--c--b", false],
    ["[a]", "a", false],
    ["./a//b", "a/b", true],
  ] as const;
  for (const [pattern, path, fits] of table) {
    assert.equal(new PathPattern(pattern).matches(path), fits, `${pattern} ${path}`);
  }
});

Deno.test("a pattern fits what the regular expression of the same meaning does", () => {
  const name = fc.stringMatching(/^[ab]{1,4}$/);
  const part = fc.oneof(
    fc.constant("**"),
    fc.stringMatching(/^[ab*?]{1,4}$/).filter((it) => it !== "**"),
  );
  const meaning = (parts: readonly string[]) => {
    const words = parts.map((one) =>
      one === "**" ? "(?:[^/]+/)*" : `${one.replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}/`
    );
    return new RegExp(`^${words.join("")}(?:[^/]+/)*$`);
  };
  fc.assert(fc.property(
    fc.array(part, { minLength: 1, maxLength: 4 }).filter((all) =>
      !all.some((it) => /\*\*./.test(it) || /.\*\*/.test(it))
    ),
    fc.array(name, { minLength: 1, maxLength: 4 }),
    (parts, names) => {
      const path = names.join("/");
      assert.equal(
        new PathPattern(parts.join("/")).matches(path),
        meaning(parts).test(`${path}/`),
        `${parts.join("/")} ${path}`,
      );
    },
  ));
});

Deno.test("artifacts are regular files of the checkout, and no link leads out of it", async () => {
  await withFolder(async (folder) => {
    const checkout = join(folder, "checkout");
    await write(folder, { "secret": "secret", "elsewhere/file": "secret" });
    await write(checkout, { "out/a": "a", "out/b/c": "c", "other": "x" });
    await Deno.symlink(join(folder, "secret"), join(checkout, "out/link"));
    await Deno.symlink(join(folder, "elsewhere"), join(checkout, "out/folder"));
    await Deno.symlink("../../elsewhere", join(checkout, "out/relative"));
    const found = await findArtifacts(checkout, [
      "out/**",
      "out/folder/file",
      "../secret",
      "none/*",
    ]);
    assert.deepEqual(found.paths, ["out/a", "out/b/c"]);
    assert.match(found.notes.join(), /links, which are not kept/);
    for (const path of ["out/link", "out/folder/file", "../secret", "out", "none"]) {
      assert.equal(await openInside(checkout, path), null, path);
    }
    const hashes = await hashesOf(checkout, ["out/a", "out/link", "../secret"]);
    assert.deepEqual([...hashes.keys()], ["out/a"]);
  });
});

Deno.test("a cache comes back as it was, and packs nothing that a link leads to", async () => {
  await withFolder(async (folder) => {
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    await write(folder, { "elsewhere/secret": "secret" });
    await write(from, { "kept/a": "a", "kept/deep/b": "b", "@odd": "odd", "not": "x" });
    await Deno.mkdir(to);
    await Deno.symlink(join(folder, "elsewhere"), join(from, "linked"));
    const archive = join(folder, "archive");
    assert.ok(await pack(from, ["kept", "@odd", "linked/secret", "none"], archive));
    const open = async () => (await Deno.open(archive)).readable;
    const options = { folder: to, strip: 0, maxBytes: 1000 };
    await unpack(await open(), { ...options, only: ["kept"] });
    assert.equal(await Deno.readTextFile(join(to, "kept/deep/b")), "b");
    assert.deepEqual([...Deno.readDirSync(to)].map(({ name }) => name), ["kept"]);
    await unpack(await open(), options);
    assert.deepEqual([...Deno.readDirSync(to)].map(({ name }) => name).sort(), ["@odd", "kept"]);
    await assert.rejects(async () => await unpack(await open(), { ...options, maxBytes: 2 }), {
      name: "ArchiveTooLarge",
    });
    assert.equal(await pack(from, ["none"], archive), false);
  });
});

/** An archive with one entry of any path and kind. */
function evil(path: string, type: "File" | "SymbolicLink" | "Link", linkpath = ""): Uint8Array {
  const body = new TextEncoder().encode("evil");
  const size = type === "File" ? body.length : 0;
  const header = new Header({ path, type, linkpath, size, mode: 0o644, mtime: new Date(0) });
  header.encode();
  const blocks = [header.block!, ...size === 0 ? [] : [Buffer.concat([body], 512)]];
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

Deno.test("no archive writes outside of its folder", async () => {
  await withFolder(async (folder) => {
    const inside = join(folder, "inside");
    await write(folder, { "outside": "good" });
    await Deno.mkdir(inside);
    await Deno.symlink(folder, join(inside, "up"));
    const entries = [
      evil("../outside", "File"),
      evil(join(folder, "outside"), "File"),
      evil("up/outside", "File"),
      evil("a/../../outside", "File"),
      evil("hard", "Link", "../outside"),
      evil("soft", "SymbolicLink", "../outside"),
      evil("soft", "File"),
    ];
    for (const entry of entries) {
      const stream = ReadableStream.from([entry]) as ReadableStream<Uint8Array>;
      await unpack(stream, { folder: inside, strip: 0, maxBytes: 1000 }).catch(() => {});
      assert.equal(await Deno.readTextFile(join(folder, "outside")), "good");
      assert.equal((await Deno.lstat(join(folder, "outside"))).nlink, 1);
    }
  });
});
