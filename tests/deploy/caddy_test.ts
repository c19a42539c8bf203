/** `deploy/Caddyfile`, with the real Caddy. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { peer } from "../support/peers.ts";
import { adapt, checkProxy, type Placed, withProxy } from "../support/proxy.ts";

const CADDYFILE = new URL("../../deploy/Caddyfile", import.meta.url);

/** Caddy with the file for one server, on a free port, with a certificate that is at hand. */
async function caddy({ folder, port, api, webSocket }: Placed): Promise<Deno.Command> {
  const file = join(folder, "Caddyfile");
  const text = adapt(await Deno.readTextFile(CADDYFILE), [
    ["\n{\n", "\n{\n\tadmin off\n\tauto_https disable_redirects\n"],
    [
      "\nmuster.example.com {\n",
      `\nhttps://localhost:${port} {\n\ttls ${folder}/tls.crt ${folder}/tls.key\n`,
    ],
    ["/var/log/caddy/", `${folder}/`],
    ["127.0.0.1:8080", api],
    ["127.0.0.1:8067", webSocket],
  ]);
  await Deno.writeTextFile(file, text);
  return new Deno.Command("caddy", {
    args: ["run", "--config", file, "--adapter", "caddyfile"],
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
}

const peers = ["caddy", "fossil", "git", "openssl"].map(peer);

Deno.test(
  "streams, WebSockets, fossil, git and addresses pass through Caddy, and tokens stay out of its log",
  {
    ignore: peers.some(({ ignore }) => ignore),
  },
  async () => {
    await withProxy(caddy, async (proxied) => {
      await checkProxy(proxied);
      const log = await Deno.readTextFile(join(proxied.folder, "muster.log"));
      assert.match(log, /\/v1\/channels\/general\/stream\?token=HIDDEN/);
      assert.equal(log.includes(proxied.program.token), false);
    });
  },
);

for (const file of ["Caddyfile", "cluster/Caddyfile"]) {
  Deno.test(`deploy/${file} is formatted and valid`, peer("caddy"), async () => {
    const path = new URL(`../../deploy/${file}`, import.meta.url).pathname;
    for (const args of [["validate", "--adapter", "caddyfile", "--config"], ["fmt"]]) {
      const { code, stdout, stderr } = await new Deno.Command("caddy", { args: [...args, path] })
        .output();
      const text = new TextDecoder().decode(stdout);
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      if (args[0] === "fmt") assert.equal(text, await Deno.readTextFile(path));
    }
  });
}
