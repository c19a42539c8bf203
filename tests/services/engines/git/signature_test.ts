/** Signatures of SSH keys, made by OpenSSH through git, and those of security keys. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { parseSshKey, signatureOf } from "../../../../services/engines/git/mod.ts";
import { GitClient } from "../../../support/git_client.ts";
import { peer } from "../../../support/peers.ts";

const KEYS = [
  ["ed25519"],
  ["ecdsa", "-b", "256"],
  ["ecdsa", "-b", "384"],
  ["ecdsa", "-b", "521"],
  ["rsa", "-b", "2048"],
  ["rsa", "-b", "3072"],
] as const;

/** Makes a key in a file, without a passphrase; gives its path. */
async function keyOf(client: GitClient, type: readonly string[]): Promise<string> {
  const path = client.path(`key-${type.join("")}`);
  const args = ["-q", "-t", ...type, "-N", "", "-C", "a laptop", "-f", path];
  const { code } = await new Deno.Command("ssh-keygen", { args, stdin: "null" }).output();
  assert.equal(code, 0);
  return path;
}

/** The content of a commit that a key has signed. */
async function signed(client: GitClient, key: string): Promise<Uint8Array> {
  const settings = ["-c", "gpg.format=ssh", "-c", `user.signingkey=${key}`];
  await client.git(["init", "--quiet", "signed"]);
  const folder = client.path("signed");
  await client.git(
    [...settings, "commit", "--quiet", "-S", "--allow-empty", "-m", "Signed\n\nä"],
    folder,
  );
  const content = await client.git(["cat-file", "commit", "HEAD"], folder);
  return new TextEncoder().encode(content);
}

Deno.test({
  name: "what OpenSSH signs is good, by the fingerprint that it shows, and a change makes it bad",
  ...peer("ssh-keygen"),
  async fn() {
    using client = new GitClient();
    for (const type of KEYS) {
      const path = await keyOf(client, type);
      const { stdout } = await new Deno.Command("ssh-keygen", { args: ["-lf", `${path}.pub`] })
        .output();
      const [, fingerprint] = new TextDecoder().decode(stdout).split(" ");
      const key = parseSshKey(await Deno.readTextFile(`${path}.pub`));
      assert.deepEqual([key.fingerprint, key.comment], [fingerprint, "a laptop"]);
      const commit = await signed(client, path);
      assert.deepEqual(signatureOf(commit), { kind: "ssh", fingerprint, isGood: true });
      const changed = commit.slice();
      changed[commit.length - 2]! ^= 1;
      assert.deepEqual(signatureOf(changed), { kind: "ssh", fingerprint, isGood: false });
    }
  },
});

Deno.test({
  name: "a signature for something else than Git, a cut one and a broken one are bad",
  ...peer("ssh-keygen"),
  async fn() {
    using client = new GitClient();
    const path = await keyOf(client, ["ed25519"]);
    const text = new TextDecoder().decode(await signed(client, path));
    const payload = text.replace(/^gpgsig .*\n(?: .*\n)*/m, "");
    await Deno.writeTextFile(client.path("payload"), payload);
    const args = ["-Y", "sign", "-n", "file", "-f", path, client.path("payload")];
    assert.equal((await new Deno.Command("ssh-keygen", { args, stderr: "null" }).output()).code, 0);
    const foreign = await Deno.readTextFile(client.path("payload.sig"));
    const header = `gpgsig ${foreign.trim().replaceAll("\n", "\n ")}\n`;
    const variants = [
      payload.replace("\n\n", `\n${header}\n`),
      text.replace(/(gpgsig .*\n .{20}).*\n/, "$1\n"),
      text.replace(" -----END SSH SIGNATURE-----\n", ""),
      text.replace(/(gpgsig .*\n .{50})./, "$1!"),
      text.replace(/(gpgsig .*\n .{50}).{4}/, "$1AAAA"),
    ];
    for (const variant of variants) {
      assert.notEqual(variant, text);
      const found = signatureOf(new TextEncoder().encode(variant));
      assert.ok(found?.kind === "ssh", variant);
      assert.notEqual(found.isGood, true, variant);
    }
    assert.equal(signatureOf(new TextEncoder().encode(payload)), null);
  },
});

function sshString(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();

const APPLICATION = "ssh:";

/** A commit that a security key has signed, as PROTOCOL.u2f says. */
function signedByHardware(
  { type, blob, privateKey, flags }: {
    readonly type: string;
    readonly blob: Buffer;
    readonly privateKey: KeyObject;
    readonly flags: number;
  },
): Uint8Array {
  const payload = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 1 +0000\n" +
    "committer A <a> 1 +0000\n\nText\n";
  const digest = createHash("sha512").update(payload).digest();
  const fields = [sshString("git"), sshString(""), sshString("sha512")];
  const message = Buffer.concat([Buffer.from("SSHSIG"), ...fields, sshString(digest)]);
  const seen = Buffer.from([flags, 0, 0, 0, 7]);
  const whole = Buffer.concat([sha256(Buffer.from(APPLICATION)), seen, sha256(message)]);
  const isCurve = type.startsWith("sk-ecdsa");
  const raw = isCurve
    ? sign("sha256", whole, { key: privateKey, dsaEncoding: "ieee-p1363" })
    : sign(null, whole, privateKey);
  const number = (bytes: Buffer) => sshString(Buffer.concat([Buffer.alloc(1), bytes]));
  const value = isCurve
    ? Buffer.concat([number(raw.subarray(0, 32)), number(raw.subarray(32))])
    : raw;
  const signature = Buffer.concat([sshString(type), sshString(value), seen]);
  const version = Buffer.from([0, 0, 0, 1]);
  const sshsig = Buffer.concat(
    [Buffer.from("SSHSIG"), version, sshString(blob), ...fields, sshString(signature)],
  );
  const base64 = sshsig.toString("base64").match(/.{1,70}/g)?.join("\n ") ?? "";
  const header = `gpgsig -----BEGIN SSH SIGNATURE-----\n ${base64}\n -----END SSH SIGNATURE-----\n`;
  return new TextEncoder().encode(payload.replace("\n\n", `\n${header}\n`));
}

Deno.test("what a security key signs is good if somebody has touched it", () => {
  const ed25519 = generateKeyPairSync("ed25519");
  const ecdsa = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [one, other] = [
    ed25519.publicKey.export({ format: "jwk" }),
    ecdsa.publicKey.export({ format: "jwk" }),
  ];
  const bytes = (text: string | undefined) => Buffer.from(text ?? "", "base64url");
  const point = Buffer.concat([Buffer.from([4]), bytes(other.x), bytes(other.y)]);
  const [sk, skCurve] = ["sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"];
  const parts = [
    [sk, [sk, bytes(one.x), APPLICATION], ed25519.privateKey],
    [skCurve, [skCurve, "nistp256", point, APPLICATION], ecdsa.privateKey],
  ] as const;
  for (const [type, values, privateKey] of parts) {
    const blob = Buffer.concat(values.map((value) => sshString(value)));
    const { fingerprint } = parseSshKey(`${type} ${blob.toString("base64")} a key`);
    const key = { type, blob, privateKey };
    const good = signatureOf(signedByHardware({ ...key, flags: 1 }));
    assert.deepEqual(good, { kind: "ssh", fingerprint, isGood: true });
    const untouched = signatureOf(signedByHardware({ ...key, flags: 0 }));
    assert.deepEqual(untouched, { kind: "ssh", fingerprint, isGood: false });
  }
});

Deno.test("signatures of other programs are named, and not judged", () => {
  const commit = (head: string) =>
    new TextEncoder().encode(
      `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ngpgsig ${head}\n  \n abc\n\nText\n`,
    );
  assert.deepEqual(signatureOf(commit("-----BEGIN PGP SIGNATURE-----")), { kind: "gpg" });
  assert.deepEqual(signatureOf(commit("-----BEGIN SIGNED MESSAGE-----")), { kind: "x509" });
  assert.deepEqual(signatureOf(commit("anything")), { kind: "unknown" });
});

Deno.test("lines that are no keys, and keys that are too weak, are refused", () => {
  const rsa = (bits: number, zeros = 0) => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
    const { n, e } = publicKey.export({ format: "jwk" });
    const number = (text: string | undefined, before: number) =>
      sshString(Buffer.concat([Buffer.alloc(before), Buffer.from(text ?? "", "base64url")]));
    const blob = Buffer.concat([sshString("ssh-rsa"), number(e, zeros), number(n, zeros + 1)]);
    return `ssh-rsa ${blob.toString("base64")}`;
  };
  assert.match(parseSshKey(rsa(2048)).fingerprint, /^SHA256:/);
  const dss = sshString("ssh-dss").toString("base64");
  const lines = [
    "",
    "ssh-ed25519",
    "ssh-ed25519 AAAA",
    `ssh-ed25519 ${"A".repeat(10_000)}`,
    `ssh-dss ${dss}`,
    rsa(1024),
    // The same key would have another fingerprint.
    rsa(2048, 1),
    `${rsa(2048)} one\n${rsa(2048)} other`,
    rsa(2048).replace("ssh-rsa", "ssh-ed25519"),
    "-----BEGIN OPENSSH PRIVATE KEY-----",
  ];
  for (const line of lines) assert.throws(() => parseSshKey(line), /./, line);
});
