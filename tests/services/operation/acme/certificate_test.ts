import assert from "node:assert/strict";
import { join } from "node:path";
import { AcmeCertificate } from "../../../../services/operation/acme/mod.ts";
import { type Config, loadConfig } from "../../../../services/operation/config/mod.ts";
import { freePort } from "../../../support/free_port.ts";
import { peer } from "../../../support/peers.ts";
import { startPebble } from "../../../support/pebble.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { TestLog } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";

/** Validity of the authority's certificates, in seconds. */
const VALIDITY = 3600;

async function configFor(folder: string, acme: object): Promise<Config> {
  const file = join(folder, "config.yaml");
  await Deno.writeTextFile(
    file,
    JSON.stringify({
      data_dir: join(folder, "data"),
      tls: { acme: { domains: ["localhost"], agree_to_terms: true, ...acme } },
    }),
  );
  return (await loadConfig({ file, fileRequired: true, environment: {}, flags: {} })).config;
}

/** A clock at the time of the machine, because the authority has that time too. */
function schedulerOfToday(): TestScheduler {
  const scheduler = new TestScheduler();
  scheduler.advance(Math.max(0, Date.now() - scheduler.now()));
  return scheduler;
}

Deno.test("a certificate is renewed after two thirds of its validity, with the same account", {
  ignore: peer("pebble").ignore || peer("openssl").ignore,
}, async () => {
  await withFolder(async (folder) => {
    await using pebble = await startPebble(folder, VALIDITY);
    const { directory, ca, httpPort } = pebble;
    const config = await configFor(folder, {
      directory,
      ca,
      http_listen: `127.0.0.1:${httpPort}`,
    });
    const scheduler = schedulerOfToday();
    const log = new TestLog();
    using certificate = await AcmeCertificate.open({ config, log, scheduler });
    const present = () => Deno.readTextFileSync(config.tls.cert);
    const standIn = present();
    let changes = 0;
    certificate.start(() => changes++);
    scheduler.advance(0);
    await until(() => changes === 1 && scheduler.pending === 1);
    const first = present();
    assert.notEqual(first, standIn);
    const accountKey = await Deno.readTextFile(join(folder, "data/acme/account_key.pem"));

    scheduler.advance(VALIDITY * 1000 / 2);
    assert.equal(scheduler.pending, 1);
    scheduler.advance(VALIDITY * 1000 / 4);
    await until(() => changes === 2 && scheduler.pending === 1);
    assert.notEqual(present(), first);
    assert.equal(await Deno.readTextFile(join(folder, "data/acme/account_key.pem")), accountKey);
    assert.deepEqual(log.lines.filter((line) => line.startsWith("error")), []);

    using again = await AcmeCertificate.open({ config, log, scheduler });
    again.start(() => changes++);
    assert.equal(changes, 2, "a start keeps a certificate that is not due");
  });
});

Deno.test("the pauses between failed orders double", async () => {
  await withFolder(async (folder) => {
    const config = await configFor(folder, {
      directory: `https://127.0.0.1:${freePort()}/dir`,
      http_listen: "127.0.0.1:0",
    });
    const scheduler = schedulerOfToday();
    const log = new TestLog();
    using certificate = await AcmeCertificate.open({ config, log, scheduler });
    certificate.start(() => {});
    for (const [at, pause] of [0, 60, 120, 240].entries()) {
      scheduler.advance(pause * 1000);
      await until(() => scheduler.pending === 1);
      assert.equal(log.lines.length, at + 1);
      assert.ok(log.lines[at]?.includes(`retrySeconds: ${60 * 2 ** at}`), log.lines[at]);
    }
  });
});
