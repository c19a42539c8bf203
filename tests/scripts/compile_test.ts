import assert from "node:assert/strict";
import { join } from "node:path";
import { compileBundle, NoRuntime, permissionFlags } from "../../scripts/executable.ts";
import {
  findTarget,
  hostTarget,
  platformOf,
  readPlatform,
  TARGETS,
} from "../../scripts/targets.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

/** The first bytes of an executable: 16- and 32-bit numbers, little endian, by offset. */
function header(numbers: readonly (readonly [offset: number, bits: 16 | 32, value: number])[]) {
  const bytes = new Uint8Array(4096);
  const view = new DataView(bytes.buffer);
  for (const [offset, bits, value] of numbers) {
    if (bits === 16) view.setUint16(offset, value, true);
    else view.setUint32(offset, value, true);
  }
  return bytes;
}

const ELF = [0, 32, 0x464c457f] as const;
const MACH = [0, 32, 0xfeedfacf] as const;
const PE = [[0, 16, 0x5a4d], [60, 32, 128], [128, 32, 0x4550]] as const;

/** A target other than this machine, for which no trial runs. */
const OTHER = TARGETS.find(({ os }) => os !== hostTarget().os) ?? hostTarget();

Deno.test("the platform of an executable is read from its header", () => {
  const table = [
    [header([ELF, [18, 16, 62]]), { os: "linux", arch: "x86_64" }],
    [header([ELF, [18, 16, 183]]), { os: "linux", arch: "aarch64" }],
    [header([MACH, [4, 32, 0x01000007]]), { os: "macos", arch: "x86_64" }],
    [header([MACH, [4, 32, 0x0100000c]]), { os: "macos", arch: "aarch64" }],
    [header([...PE, [132, 16, 0x8664]]), { os: "windows", arch: "x86_64" }],
    [header([ELF, [18, 16, 40]]), null],
    [header([[0, 16, 0x5a4d], [60, 32, 4095]]), null],
    [new TextEncoder().encode("#!/usr/bin/env bash".padEnd(64)), null],
  ] as const;
  for (const [bytes, platform] of table) assert.deepEqual(platformOf(bytes), platform);
  const { os, arch } = hostTarget();
  assert.deepEqual(readPlatform(Deno.execPath()), { os, arch });
});

Deno.test("there are targets for Linux and macOS on both processors, and for Windows", () => {
  assert.deepEqual(TARGETS.map(({ os, arch }) => `${os} ${arch}`), [
    "linux x86_64",
    "linux aarch64",
    "macos x86_64",
    "macos aarch64",
    "windows x86_64",
  ]);
});

Deno.test("on Linux the executable may start itself, a shell for runners, and Git", () => {
  const flags = permissionFlags({ os: "linux", arch: "x86_64" });
  const [run = "", ...more] = flags.filter((flag) => flag.startsWith("--allow-run"));
  assert.match(run, /^--allow-run=\/proc\/self\/exe,\/bin\/sh,\/usr\/bin\/git,/);
  assert.deepEqual(more, []);
  assert.ok(permissionFlags({ os: "windows", arch: "x86_64" }).includes("--allow-run"));
});

Deno.test("a runtime of another platform is refused, and the message says what to do", async () => {
  const target = findTarget("aarch64-apple-darwin");
  assert.ok(target !== undefined);
  await withFolder(async (folder) => {
    const output = join(folder, "muster");
    const script = await writeFile(folder, "denort", "#!/bin/sh\n");
    const table: [runtime: string, message: RegExp][] = [
      [
        Deno.execPath(),
        /^The runtime in DENORT_BIN is for \w+ on \w+; aarch64-apple-darwin needs /,
      ],
      [script, /^The runtime in DENORT_BIN is no known executable; /],
      [join(folder, "none"), /^The runtime in DENORT_BIN cannot be read: /],
    ];
    for (const [runtime, message] of table) {
      const compile = () => compileBundle(folder, { target, output, runtime });
      await assert.rejects(compile, { name: "NoRuntime", message });
    }
  });
});

Deno.test("the compiler gets the target, and the runtime keeps no compiled code", async () => {
  await withFolder(async (folder) => {
    const compiler = await writeFile(
      folder,
      "deno",
      `#!/bin/sh\necho "$@" > ${folder}/words\nexit 1\n`,
    );
    await Deno.chmod(compiler, 0o755);
    const options = { target: OTHER, output: join(folder, "muster"), compiler };
    await assert.rejects(() => compileBundle(folder, options), NoRuntime);
    const words = (await Deno.readTextFile(join(folder, "words"))).trim().split(" ");
    assert.ok(words.includes(`--target=${options.target.name}`));
    assert.ok(words.includes("--no-code-cache"), "Others may write the file of a cache");
  });
});

Deno.test("a runtime that cannot be downloaded ends with a message", async () => {
  await withFolder(async (folder) => {
    const compiler = await writeFile(folder, "deno", "#!/bin/sh\nexit 1\n");
    await Deno.chmod(compiler, 0o755);
    const options = { target: OTHER, output: join(folder, "muster"), compiler };
    await assert.rejects(() => compileBundle(folder, options), {
      name: "NoRuntime",
      message: /^There is no executable for \S+\. If Deno could not download the runtime from /,
    });
  });
});
