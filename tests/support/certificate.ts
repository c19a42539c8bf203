import assert from "node:assert/strict";
import { join } from "node:path";

/** What every certificate for this machine says. */
const NAMES = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];

/**
 * Makes a certificate for this machine with a private authority: `tls.crt` and `tls.key`, and that of
 * the authority as `ca.crt`, in a folder.
 */
export async function makeSignedCertificate(folder: string): Promise<{ authority: string }> {
  await openssl(folder, ["-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=Test authority"]);
  await openssl(folder, [
    ...["-CA", "ca.crt", "-CAkey", "ca.key", "-keyout", "tls.key", "-out", "tls.crt"],
    ...["-subj", "/CN=localhost", "-addext", "basicConstraints=critical,CA:FALSE", ...NAMES],
  ]);
  return { authority: await Deno.readTextFile(join(folder, "ca.crt")) };
}

/** Makes a certificate for this machine with `openssl`, as `tls.crt` and `tls.key` in a folder. */
export async function makeCertificate(folder: string): Promise<{ cert: string; key: string }> {
  await openssl(folder, [
    ...["-keyout", "tls.key", "-out", "tls.crt", "-subj", "/CN=localhost"],
    ...["-addext", "basicConstraints=critical,CA:FALSE", ...NAMES],
  ]);
  return {
    cert: await Deno.readTextFile(join(folder, "tls.crt")),
    key: await Deno.readTextFile(join(folder, "tls.key")),
  };
}

/** Makes a certificate with a new key. */
async function openssl(folder: string, args: readonly string[]): Promise<void> {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const { success, stderr } = await new Deno.Command("openssl", {
    cwd: folder,
    args: ["req", "-x509", ...key, "-days", "30", ...args],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}
