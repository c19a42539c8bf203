/** Signatures of commits, and the accounts whose keys made them. */
import assert from "node:assert/strict";
import type { Clone } from "../../../support/git_client.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";
import { commit } from "../../../support/git_pushes.ts";
import { peer } from "../../../support/peers.ts";
import type { TestProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

function signatureTest(name: string, run: (test: GitTest) => Promise<void>): void {
  Deno.test({ name, ...peer("ssh-keygen"), fn: () => withGit(run) });
}

/** Makes a key with which a clone signs its commits; gives its public line. */
async function signWith(clone: Clone, type: string): Promise<string> {
  const path = `${clone.folder}.${type}`;
  const args = ["-q", "-t", type, "-N", "", "-C", "laptop", "-f", path];
  assert.equal((await new Deno.Command("ssh-keygen", { args, stdin: "null" }).output()).code, 0);
  await clone.git("config", "gpg.format", "ssh");
  await clone.git("config", "user.signingkey", path);
  await clone.git("config", "commit.gpgsign", "true");
  return (await Deno.readTextFile(`${path}.pub`)).trim();
}

/** Adds a key as the agent `caller` or another one; gives the answer. */
async function addKey({ api }: TestProject, as: string, key: string) {
  const response = await api.send({
    who: "guest",
    request: "POST /v1/signing-keys",
    headers: { authorization: as },
    body: { key },
  });
  return { status: response.status, answer: await response.json() };
}

/** The signature of the newest check-in, as the API tells it. */
async function newest({ answer }: TestProject) {
  const { checkins: [{ uuid }] } = await answer("GET /api/timeline");
  return (await answer(`GET /api/checkin/${uuid}`)).signature;
}

signatureTest("a signed commit is verified while an account has its key", async (test) => {
  const { api, caller, other } = test;
  const clone = await test.clone();
  await commit(clone, { "a.txt": "a\n" }, "Unsigned");
  await clone.git("push", "--quiet", "origin", "HEAD");
  assert.equal(await newest(test), undefined);
  for (const type of ["ed25519", "ecdsa", "rsa"]) {
    const key = await signWith(clone, type);
    await commit(clone, { "a.txt": `${type}\n` }, `Signed with ${type}`);
    await clone.git("push", "--quiet", "origin", "HEAD");
    const before = await newest(test);
    assert.deepEqual([before.kind, before.state, before.by], ["ssh", "unknown", undefined]);
    const { status, answer } = await addKey(test, caller, key);
    assert.equal(status, 201, JSON.stringify(answer));
    assert.equal(answer.name, "laptop");
    const { fingerprint } = answer;
    assert.deepEqual(await newest(test), {
      kind: "ssh",
      state: "verified",
      by: "caller",
      fingerprint,
    });
    assert.equal((await addKey(test, other, key)).status, 409, "a key belongs to one account");
  }
  const keys = await api.services.signingKeys.list(null);
  assert.deepEqual(keys.map(({ owner }) => owner), ["caller", "caller", "caller"]);
  const last = (await newest(test)).fingerprint;
  const { id = "" } = keys.find(({ fingerprint }) => fingerprint === last) ?? {};
  await api.services.signingKeys.remove(id, null, BY_OPERATOR);
  assert.equal((await newest(test)).state, "unknown");
  // The second one again, whose account ends.
  const { checkins } = await test.answer("GET /api/timeline");
  const stateOf = async () =>
    (await test.answer(`GET /api/checkin/${checkins[1].uuid}`)).signature.state;
  assert.equal(await stateOf(), "verified");
  await api.expect([{ request: "POST /v1/agents/caller/revoke", status: 204 }]);
  assert.equal(await stateOf(), "unknown");
});

signatureTest(
  "a check-in that shows other words than its signer's is not verified",
  async (test) => {
    const { api: { services: { hosting } } } = test;
    const clone = await test.clone();
    await addKey(test, test.caller, await signWith(clone, "ed25519"));
    await commit(clone, { "a.txt": "a\n" }, "Signed words");
    await clone.git("push", "--quiet", "origin", "HEAD");
    assert.equal((await newest(test)).state, "verified");
    const { project } = hosting.projects.require("demo");
    const { checkins: [{ uuid: checkin }] } = await test.answer("GET /api/timeline");
    await hosting.repositories.write(project, {
      caller: BY_OPERATOR,
      write: (repository, stamp) =>
        repository.amend({ ...stamp, checkin, comment: "Words of somebody else" }),
    });
    const { state, by } = await newest(test);
    assert.deepEqual([state, by], ["amended", undefined]);
  },
);

signatureTest("a commit that is another one than was signed is bad", async (test) => {
  const clone = await test.clone();
  const key = await signWith(clone, "ed25519");
  await addKey(test, test.caller, key);
  await commit(clone, { "a.txt": "a\n" }, "Harmless");
  const content = await clone.git("cat-file", "commit", "HEAD");
  await Deno.writeTextFile(`${clone.folder}.commit`, content.replace("Harmless", "Harmful!"));
  const name = await clone.git("hash-object", "-t", "commit", "-w", `${clone.folder}.commit`);
  await clone.git("reset", "--quiet", "--hard", name.trim());
  await clone.git("push", "--quiet", "origin", "HEAD");
  const { state, by, fingerprint } = await newest(test);
  assert.deepEqual([state, by], ["bad", undefined]);
  assert.match(fingerprint, /^SHA256:/);
});

Deno.test({
  name: "a commit that GPG has signed is shown as signed, without a verdict",
  ...peer("gpg"),
  fn: () =>
    withGit(async (test) => {
      const clone = await test.clone();
      const home = `${clone.folder}.gpg`;
      await Deno.mkdir(home, { mode: 0o700 });
      const gpg = `${clone.folder}.sh`;
      await Deno.writeTextFile(gpg, `#!/bin/sh\nexec gpg --homedir ${home} --batch "$@"\n`);
      await Deno.chmod(gpg, 0o755);
      const args = ["--passphrase", "", "--quick-gen-key", "ann@example.org"];
      const made = await new Deno.Command(gpg, { args, stdin: "null", stderr: "null" }).output();
      assert.equal(made.code, 0);
      await clone.git("config", "gpg.program", gpg);
      await clone.git("config", "user.signingkey", "ann@example.org");
      await clone.git("commit", "--quiet", "-S", "--allow-empty", "-m", "Signed");
      await clone.git("push", "--quiet", "origin", "HEAD");
      assert.deepEqual(await newest(test), { kind: "gpg", state: "unknown" });
      await new Deno.Command("gpgconf", { args: ["--homedir", home, "--kill", "all"] }).output();
    }),
});
