import assert from "node:assert/strict";
import { join } from "node:path";
import {
  accountOfJobs,
  findContainers,
  Interruption,
  type Sandbox,
} from "../../runner/executor/mod.ts";
import { peer } from "../support/peers.ts";
import { runJob } from "./support.ts";

const IMAGE = "localhost/muster-test-image";
const PROGRAMS = ["sh", "cat", "head", "id", "ls", "sleep", "touch"];

/** Makes an image of a few programs of this machine: no registry is asked. */
const MAKE = `
set -e
root=$1
shift
mkdir -p "$root/bin" "$root/tmp" "$root/work"
for name do
  program=$(readlink -f "$(command -v "$name")")
  cp "$program" "$root/bin/$name"
  ldd "$program" | grep -oE '/[^ ]+' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
done
tar -C "$root" -cf "$root.tar" .
`;

async function must(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** crun refuses a system that has both kinds of control groups, so that the jobs see one alone. */
const HYBRID = "/sys/fs/cgroup/unified";

async function podman(): Promise<Sandbox> {
  const found = await findContainers({ engine: "podman", account: accountOfJobs() });
  assert.ok(!("why" in found), "why" in found ? found.why : "");
  const { success: isHybrid } = await new Deno.Command("test", { args: ["-d", HYBRID] }).output();
  if (!isHybrid) return found;
  const apart = ["unshare", "-m", "sh", "-c", `umount ${HYBRID}; exec "$@"`, "sh"];
  return {
    ...found,
    command: async (...job) => [...apart, ...await found.command(...job)],
    sweep: async (name) => {
      const [program = "", ...args] = [...apart, "podman", "rm", "--force", name];
      await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output();
    },
  };
}

Deno.test("a check with an image runs in a container of podman", peer("podman"), async () => {
  const root = await Deno.makeTempDir();
  try {
    const folder = join(root, "image");
    await must("sh", "-c", MAKE, "sh", folder, ...PROGRAMS);
    await must("podman", "import", `${folder}.tar`, IMAGE);
    const sandbox = await podman();
    const image = IMAGE;
    const done = await runJob({
      sandbox,
      image,
      files: { "file": "text" },
      env: { NAME: "it's" },
      commands: [
        'echo "$NAME"; cat file; echo',
        "touch /x 2>/dev/null || echo read-only; touch /tmp/x ~/x x; ls / ~",
        "id -u; ls /sys/class/net; exit 7",
      ],
    });
    assert.equal(done.outcome, "failure", done.err);
    assert.equal(done.exit_code, 7);
    const [name, text, readOnly, ...rest] = done.out.split("\n");
    assert.deepEqual([name, text, readOnly], ["it's", "text", "read-only"]);
    assert.ok(rest.includes("lo") && !rest.includes("eth0"), done.out);
    assert.ok(!rest.includes("0") || accountOfJobs() === null, done.out);
    const stopped = new AbortController();
    const cancelled = await runJob({
      sandbox,
      image,
      commands: ["trap '' TERM; echo ready; while :; do sleep 1; done"],
      signal: stopped.signal,
      onLine: ({ text }) => {
        if (text === "ready") stopped.abort(new Interruption("It was cancelled", 100));
      },
    });
    assert.equal(cancelled.outcome, "cancelled");
    assert.equal((await must("podman", "ps", "-q", "--filter", "name=test-")).trim(), "");
    const bomb = await runJob({
      sandbox,
      image,
      commands: ["f() { f | f & }; f; sleep 60"],
      timeout_seconds: 2,
    });
    assert.equal(bomb.outcome, "failure");
  } finally {
    await new Deno.Command("podman", { args: ["rmi", "--force", IMAGE] }).output();
    await Deno.remove(root, { recursive: true });
  }
});
