import assert from "node:assert/strict";
import { join } from "node:path";
import { makeCertificate } from "../support/certificate.ts";
import { peer } from "../support/peers.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

const CONFIG = "tls: { cert: tls.crt, key: tls.key }\nirc: { listen: 127.0.0.1:0 }\n";

Deno.test("commands trust the certificate of their configuration", {
  ...peer("openssl"),
}, async () => {
  await withFolder(async (folder) => {
    await makeCertificate(folder);
    await using program = await startProgram({ folder, config: CONFIG });
    const { code, stdout, stderr } = await runMuster(["health"], { folder });
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "ok\n", stderr: "" });

    await writeFile(folder, "config.yaml", "");
    const stranger = await runMuster(["health"], { folder });
    assert.equal(stranger.code, 1);
    assert.equal(
      stranger.stderr,
      `The certificate of ${program.api} cannot be trusted\n` +
        "Name a PEM file with its authority in the environment variable DENO_CERT\n",
    );
    const environment = { DENO_CERT: join(folder, "tls.crt") };
    assert.equal((await runMuster(["health"], { folder, environment })).code, 0);
  });
});

Deno.test("a command says that the server's certificate has another name", {
  ...peer("openssl"),
}, async () => {
  await withFolder(async (folder) => {
    await makeCertificate(folder);
    const environment = { MUSTER_API_ADDR: "127.0.0.2:0" };
    await using program = await startProgram({ folder, config: CONFIG, environment });
    const { code, stderr } = await runMuster(["status"], { folder });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `The certificate of ${program.api} cannot be trusted\n` +
        "It is for another name: use that name in --url or MUSTER_URL\n",
    );
  });
});
