import assert from "node:assert/strict";
import { makeCertificate } from "../support/certificate.ts";
import { IrcClient } from "../support/irc_client.ts";
import { peer } from "../support/peers.ts";
import { startProgram } from "../support/program.ts";
import { ScramClient } from "../support/scram_client.ts";
import { withFolder } from "../support/temporary.ts";

const PASSWORD = "difference engine";
const CONFIG = `
tls: { cert: tls.crt, key: tls.key }
irc:
  tls_listen: 127.0.0.1:0
  sts: { enabled: true, duration_seconds: 3600 }
  require_account: true
  accounts: { self_registration: true }
`;

Deno.test("a person learns of TLS, makes an account on IRC, and logs in to it after a restart", {
  ...peer("openssl"),
}, async () => {
  await withFolder(async (folder) => {
    await makeCertificate(folder);
    {
      await using program = await startProgram({ folder, config: CONFIG });
      await using client = await IrcClient.connect(program.irc);
      await client.send("CAP LS 302", "NICK ada", "USER ada 0 * :Ada");
      await client.expect(/ CAP \* LS .*draft\/account-registration=before-connect/);
      await client.expect(new RegExp(` CAP .*sts=port=${new URL(program.ircs ?? "").port}\\b`));
      await client.send(`REGISTER * * :${PASSWORD}`, "CAP END");
      await client.expect(/ REGISTER SUCCESS ada /);
      await client.expect(/ 001 ada /);
    }
    await using program = await startProgram({ folder });
    await using client = await IrcClient.connect(program.irc);
    const scram = new ScramClient("ada", PASSWORD);
    await client.send("CAP REQ :sasl", "NICK ada", "USER ada 0 * :Ada");
    await client.send("AUTHENTICATE SCRAM-SHA-256");
    await client.expect(/^AUTHENTICATE \+$/);
    const challenge = await exchange(client, scram.first);
    assert.equal(await exchange(client, await scram.final(challenge)), scram.serverFinal);
    await client.send("AUTHENTICATE +", "CAP END");
    await client.expect(/ 903 /);
    await client.expect(/ 001 ada /);
  });
});

async function exchange(client: IrcClient, message: string): Promise<string> {
  await client.send(`AUTHENTICATE ${btoa(message)}`);
  const line = await client.expect(/^AUTHENTICATE /);
  return atob(line.slice("AUTHENTICATE ".length));
}
