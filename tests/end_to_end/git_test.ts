/** `git` and the real program: what only the runtime of the executable could get wrong. */
import assert from "node:assert/strict";
import { order, registerAgent } from "../support/api.ts";
import { GitClient } from "../support/git_client.ts";
import { commit } from "../support/git_pushes.ts";
import { peer } from "../support/peers.ts";
import { startProgram } from "../support/program.ts";
import { Random } from "../services/engines/fossil/support/random.ts";

Deno.test({
  name: "commits that SSH keys of every kind have signed are verified",
  ...peer("ssh-keygen"),
  async fn() {
    await using program = await startProgram();
    const { passphrase } = await registerAgent(program, "ann");
    await order(program, "POST /v1/projects", { slug: "demo", visibility: "public" });
    await order(program, "PUT /v1/projects/demo/members/ann", { role: "write" });
    using client = new GitClient();
    const { host } = new URL(program.api);
    const clone = await client.clone(`http://ann:${passphrase}@${host}/projects/demo.git`);
    await clone.git("config", "gpg.format", "ssh");
    await clone.git("config", "commit.gpgsign", "true");
    const types = [["ed25519"], ["ecdsa", "-b", "256"], ["ecdsa", "-b", "384"], ["rsa"]];
    for (const [index, type] of types.entries()) {
      const path = client.path(`key-${index}`);
      const args = ["-q", "-t", ...type, "-N", "", "-f", path];
      const made = await new Deno.Command("ssh-keygen", { args, stdin: "null" }).output();
      assert.equal(made.code, 0);
      await clone.git("config", "user.signingkey", path);
      await commit(clone, { "a.txt": `${index}\n` });
      const key = await Deno.readTextFile(`${path}.pub`);
      await order(program, "POST /v1/signing-keys", { owner: "ann", key });
    }
    await clone.git("push", "--quiet", "origin", "HEAD");
    const api = `${program.api}/projects/demo/fossil/api`;
    const { checkins } = await (await fetch(`${api}/timeline`)).json();
    const signatures = [];
    for (const { uuid } of checkins) {
      const { signature } = await (await fetch(`${api}/checkin/${uuid}`)).json();
      // The empty check-in of a new project has none, and may have the time of the first commit.
      if (signature !== undefined && signature !== null) {
        signatures.push(`${signature.state} by ${signature.by}`);
      }
    }
    assert.deepEqual(signatures, types.map(() => "verified by ann"));
    assert.equal(await program.stop(), 0);
  },
});

Deno.test({
  name: "git-lfs pushes, and another clone gets the content",
  ...peer("git-lfs"),
  async fn() {
    await using program = await startProgram();
    const { passphrase } = await registerAgent(program, "ann");
    await order(program, "POST /v1/projects", { slug: "demo" });
    await order(program, "PUT /v1/projects/demo/members/ann", { role: "write" });
    using client = new GitClient();
    const { host } = new URL(program.api);
    const url = `http://ann:${passphrase}@${host}/projects/demo.git`;
    const clone = await client.clone(url);
    await clone.git("lfs", "install", "--local");
    await clone.git("lfs", "track", "*.bin");
    // Long enough to wait for other long files.
    const bytes = new Uint8Array(20_000_000).fill(7);
    await commit(clone, { "a.bin": bytes });
    await clone.git("push", "--quiet", "origin", "HEAD");
    const other = await client.clone(url);
    await other.git("lfs", "install", "--local");
    await other.git("lfs", "pull");
    assert.deepEqual(Deno.readFileSync(`${other.folder}/a.bin`), bytes);
    assert.equal(await program.stop(), 0);
  },
});

Deno.test({
  name: "git clones an empty project, pushes to it, clones it again, and fetches",
  ...peer("git"),
  async fn() {
    await using program = await startProgram();
    const { passphrase } = await registerAgent(program, "ann");
    await order(program, "POST /v1/projects", { slug: "demo" });
    await order(program, "PUT /v1/projects/demo/members/ann", { role: "write" });
    using client = new GitClient();
    const { host } = new URL(program.api);
    const url = `http://ann:${passphrase}@${host}/projects/demo.git`;
    const clone = await client.clone(url);
    await clone.git("checkout", "--quiet", "-b", "main");
    const random = new Random(7);
    // Bytes that hardly shrink, in several windows of the reader.
    const bytes = Uint8Array.from({ length: 1_500_000 }, () => random.below(256));
    const first = await commit(clone, { "a.txt": "one\n".repeat(1000), empty: "", bytes });
    await clone.git("push", "--quiet", "origin", "main");
    const other = await client.clone(url, "--branch=main");
    assert.equal((await other.git("rev-parse", "HEAD")).trim(), first);
    assert.deepEqual(Deno.readFileSync(`${other.folder}/bytes`), bytes);
    // The second push has a delta.
    bytes.fill(0, 700_000, 700_010);
    const second = await commit(clone, { bytes });
    await clone.git("push", "--quiet", "origin", "main");
    await other.git("pull", "--quiet");
    assert.equal((await other.git("rev-parse", "HEAD")).trim(), second);
    assert.equal(await program.stop(), 0);
  },
});
