/** The units of `deploy/` and `deploy/install.sh`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { peer } from "../support/peers.ts";
import { type Finished, musterWords } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const DEPLOY = new URL("../../deploy/", import.meta.url).pathname;

/** Each unit with the worst exposure that `systemd-analyze security` may report, in tenths. */
const UNITS = [["muster", "12"], ["muster-runner", "32"]] as const;

async function runProgram(program: string, args: string[], env = {}): Promise<Finished> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, env, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

for (const [name, most] of UNITS) {
  Deno.test(`systemd accepts deploy/${name}.service and rates it as little exposed`, {
    ...peer("systemd-analyze"),
  }, async () => {
    await withFolder(async (folder) => {
      const unit = join(folder, `${name}.service`);
      const text = await Deno.readTextFile(join(DEPLOY, `${name}.service`));
      // The program and its manual page need not be installed on this machine.
      await Deno.writeTextFile(
        unit,
        text.replace("/usr/local/bin/muster", "/bin/true").replace(/^Documentation=.*\n/m, ""),
      );
      const verified = await runProgram("systemd-analyze", ["verify", unit]);
      assert.deepEqual(verified, { code: 0, stdout: "", stderr: "" });
      const rated = await runProgram("systemd-analyze", [
        ...["security", "--offline=true", "--no-pager", `--threshold=${most}`, unit],
      ]);
      assert.equal(rated.code, 0, rated.stdout + rated.stderr);
    });
  });
}

Deno.test("shellcheck has nothing against deploy/install.sh", peer("shellcheck"), async () => {
  const checked = await runProgram("shellcheck", [join(DEPLOY, "install.sh")]);
  assert.deepEqual(checked, { code: 0, stdout: "", stderr: "" });
});

/** Paths below the folder that stands for the root of the machine. */
const INSTALLED = [
  "usr/local/bin/muster",
  "etc/muster/config.yaml",
  "etc/muster/environment",
  "usr/local/share/man/man1/muster.1",
  "usr/local/share/bash-completion/completions/muster",
  "usr/local/share/zsh/site-functions/_muster",
  "usr/local/share/fish/vendor_completions.d/muster.fish",
  "etc/systemd/system/muster.service",
];

async function modeOf(path: string): Promise<string> {
  return (((await Deno.stat(path)).mode ?? 0) & 0o777).toString(8);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("install.sh verifies, installs, upgrades what differs, and uninstalls", async () => {
  await withFolder(async (folder) => {
    const root = join(folder, "root");
    const executable = join(folder, "muster");
    const install = (...args: string[]) =>
      runProgram(join(DEPLOY, "install.sh"), ["--executable", executable, ...args], {
        DESTDIR: root,
      });
    const words = musterWords().map((word) => `'${word}'`).join(" ");
    await Deno.writeTextFile(executable, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });

    const unknown = await install();
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /there is no .*SHA256SUMS; give the checksum with --sha256/);
    const wrong = await install("--sha256", "0".repeat(64));
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /the checksum of .* is [0-9a-f]{64}, not 0{64}/);
    const absent = await runProgram(join(DEPLOY, "install.sh"), ["--executable", "/nothing"], {
      DESTDIR: root,
    });
    assert.deepEqual([absent.code, absent.stderr], [
      1,
      "install.sh: there is no file /nothing\n",
    ]);
    assert.equal(await exists(root), false);

    const { stdout: sum } = await runProgram("sha256sum", [executable]);
    await Deno.writeTextFile(join(folder, "SHA256SUMS"), sum);
    const first = await install();
    assert.equal(first.code, 0, first.stderr);
    for (const path of INSTALLED) assert.ok(await exists(join(root, path)), path);
    assert.equal(await modeOf(join(root, "usr/local/bin/muster")), "755");
    assert.equal(await modeOf(join(root, "etc/muster/environment")), "600");
    assert.equal(await modeOf(join(root, "etc/muster/config.yaml")), "644");

    const config = await Deno.readTextFile(join(root, "etc/muster/config.yaml"));
    assert.match(config, /^data_dir: \/var\/lib\/muster$/m);
    assert.equal(config.includes(folder), false);
    assert.equal(await exists(join(root, "var")), false, "a package must hold no keys");
    assert.doesNotMatch(first.stdout, /password /);

    const second = await install();
    assert.equal(second.stderr, "");
    assert.match(second.stdout, /nothing changed/);

    await Deno.writeTextFile(join(root, "etc/muster/config.yaml"), "log: { level: debug }\n");
    await Deno.writeTextFile(join(root, "etc/systemd/system/muster.service"), "older");
    const upgrade = await install();
    assert.match(upgrade.stdout, /^wrote .*muster\.service$/m);
    assert.equal(
      await Deno.readTextFile(join(root, "etc/muster/config.yaml")),
      "log: { level: debug }\n",
    );

    assert.equal((await install("--uninstall")).code, 0);
    const left = await Promise.all(INSTALLED.map((path) => exists(join(root, path))));
    assert.deepEqual(left.map((isThere, at) => isThere && INSTALLED[at]).filter(Boolean), [
      "etc/muster/config.yaml",
      "etc/muster/environment",
    ]);
    assert.equal((await install("--uninstall", "--purge")).code, 0);
    assert.equal(await exists(join(root, "etc/muster")), false);
  });
});
