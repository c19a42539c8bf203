import assert from "node:assert/strict";
import { join } from "node:path";
import { archiveName, packRelease, releaseFiles } from "../../scripts/release/mod.ts";
import { readTargets, type Target, TARGETS } from "../../scripts/targets.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

const LINUX: Target = { name: "x86_64-unknown-linux-gnu", os: "linux", arch: "x86_64" };
const DATE = Date.UTC(2026, 10, 22);

/** Runs a program in a folder and gives its output. */
function output(folder: string, program: string, ...args: string[]): string {
  const { success, stdout, stderr } = new Deno.Command(program, {
    args,
    cwd: folder,
    env: { TZ: "UTC", LC_ALL: "C" },
  }).outputSync();
  const decoder = new TextDecoder();
  assert.ok(success, decoder.decode(stderr));
  return decoder.decode(stdout);
}

/** Packs an archive of a program that is not compiled; returns its name. */
async function pack(folder: string): Promise<string> {
  const executable = await writeFile(folder, "compiled", "#!/bin/sh\n");
  const print = (words: readonly string[]) => new TextEncoder().encode(words.join(" "));
  const name = archiveName("1.2.3", LINUX);
  await packRelease(join(folder, name), releaseFiles(executable, LINUX, print), DATE);
  return name;
}

Deno.test("an archive has what a server needs, and each checksum is right", async () => {
  await withFolder(async (folder) => {
    const name = await pack(folder);
    assert.equal(name, "muster-1.2.3-x86_64-unknown-linux-gnu.tar.gz");
    output(folder, "tar", "xzf", name);
    const inside = join(folder, "muster-1.2.3-x86_64-unknown-linux-gnu");
    const checked = output(inside, "sha256sum", "--check", "--strict", "SHA256SUMS");
    for (
      const path of [
        "muster",
        "LICENSE",
        "README.md",
        "config.example.yaml",
        "licenses.txt",
        "deploy/install.sh",
        "deploy/muster.service",
        "man/muster.1",
        "completion/muster.bash",
      ]
    ) {
      assert.ok(checked.includes(`${path}: OK\n`), path);
    }
    assert.equal(Deno.readTextFileSync(join(inside, "completion", "_muster")), "completion zsh");
    assert.equal((Deno.statSync(join(inside, "muster")).mode ?? 0) & 0o777, 0o755);
    assert.equal((Deno.statSync(join(inside, "deploy", "install.sh")).mode ?? 0) & 0o777, 0o755);
  });
});

Deno.test("two archives of the same files are the same: sorted, one time, one owner", async () => {
  await withFolder(async (one) => {
    await withFolder(async (other) => {
      const name = await pack(one);
      assert.equal(await pack(other), name);
      const read = (folder: string) => Deno.readFileSync(join(folder, name));
      assert.deepEqual(read(one), read(other));
    });
    const lines = output(one, "tar", "tvzf", archiveName("1.2.3", LINUX)).trim();
    const paths = lines.split("\n").map((line) => {
      assert.match(line, /^-rw[x-]r-[x-]r-[x-] 0\/0 +\d+ 2026-11-22 00:00 /);
      return line.slice(line.lastIndexOf(" ") + 1);
    });
    assert.deepEqual(paths, paths.toSorted());
  });
});

Deno.test("--target names targets; all means each, and a wrong one is answered with the list", () => {
  assert.deepEqual(readTargets([]), []);
  assert.deepEqual(readTargets(["--target", "all"]), TARGETS);
  const named = readTargets([
    "--target",
    "aarch64-apple-darwin",
    "--target=x86_64-pc-windows-msvc",
  ]);
  assert.deepEqual(named, TARGETS.slice(3));
  assert.match(String(readTargets(["--target", "riscv"])), /^The targets are all, x86_64-unknown-/);
});
