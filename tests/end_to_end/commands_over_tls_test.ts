import assert from "node:assert/strict";
import { join } from "node:path";
import { makeCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free_port.ts";
import { peer } from "../support/peers.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

/** For commands that look whether the addresses are free. */
const FREE_PORTS = {
  MUSTER_API_ADDR: "127.0.0.1:0",
  MUSTER_MCP_ADDR: "127.0.0.1:0",
  MUSTER_IRC_LISTEN: "127.0.0.1:0",
};

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

Deno.test("an empty DENO_CERT counts as absent, and a wrong one is named", {
  ...peer("openssl"),
}, async () => {
  await withFolder(async (folder) => {
    await makeCertificate(folder);
    await using program = await startProgram({
      folder,
      config: CONFIG,
      environment: { DENO_CERT: "" },
    });
    const withCert = (DENO_CERT: string, ...args: string[]) =>
      runMuster(args, { folder, environment: { ...FREE_PORTS, DENO_CERT } });
    assert.deepEqual(await withCert("", "health"), { code: 0, stdout: "ok\n", stderr: "" });
    await writeFile(folder, "none.pem", "");
    const faults = [
      ["absent.pem", 'The file "absent.pem" (DENO_CERT) cannot be read'],
      ["none.pem", 'The file "none.pem" (DENO_CERT) holds no certificate in PEM form'],
    ] as const;
    for (const [file, fault] of faults) {
      const checked = await withCert(file, "config", "check");
      assert.deepEqual([checked.code, checked.stderr], [2, `${fault}\n`]);
      const examined = await withCert(file, "doctor", "--quick");
      assert.match(examined.stdout, /^error: configuration: .*\(DENO_CERT\)/m);
    }
    assert.equal(await program.stop(), 0);
    for (const [file, fault] of faults) {
      const started = await withCert(file, "serve");
      assert.deepEqual([started.code, started.stderr.split("\n").at(-2)], [2, fault]);
    }
    const commanded = await runMuster(["status"], {
      folder,
      environment: {
        DENO_CERT: "absent.pem",
        MUSTER_URL: `https://127.0.0.1:${freePort()}`,
        MUSTER_API_TOKEN: program.token,
      },
    });
    assert.deepEqual([commanded.code, commanded.stderr], [2, `${faults[0][1]}\n`]);
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
