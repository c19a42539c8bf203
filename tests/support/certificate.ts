import assert from "node:assert/strict";
import { join } from "node:path";

/** Makes a certificate for this machine with `openssl`, as `tls.crt` and `tls.key` in a folder. */
export async function makeCertificate(folder: string): Promise<{ cert: string; key: string }> {
  const { success, stderr } = await new Deno.Command("openssl", {
    cwd: folder,
    args: [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
      ...["-keyout", "tls.key", "-out", "tls.crt", "-days", "30", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
      ...["-addext", "basicConstraints=critical,CA:FALSE"],
    ],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return {
    cert: await Deno.readTextFile(join(folder, "tls.crt")),
    key: await Deno.readTextFile(join(folder, "tls.key")),
  };
}
