/** `deploy/nginx.conf`, with the real nginx. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { freePort } from "../support/free_port.ts";
import { peer } from "../support/peers.ts";
import { adapt, checkProxy, type Placed, withProxy } from "../support/proxy.ts";

const FILE = new URL("../../deploy/nginx.conf", import.meta.url);

/** nginx with the file as the only one of its folder `conf.d`, on free ports. */
async function nginx({ folder, port, api, webSocket }: Placed): Promise<Deno.Command> {
  const site = adapt(await Deno.readTextFile(FILE), [
    ["  listen [::]:80;\n", ""],
    ["  listen [::]:443 ssl http2;\n", ""],
    ["listen 80;", `listen 127.0.0.1:${freePort()};`],
    ["listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`],
    ["server_name muster.example.com;", "server_name localhost;"],
    ["/etc/ssl/muster/fullchain.pem", `${folder}/tls.crt`],
    ["/etc/ssl/muster/key.pem", `${folder}/tls.key`],
    ["/var/log/nginx/", `${folder}/`],
    ["127.0.0.1:8080", api],
    ["127.0.0.1:8067", webSocket],
  ]);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`).join("\n");
  const file = join(folder, "nginx.conf");
  await Deno.writeTextFile(
    file,
    `daemon off;\nmaster_process off;\npid ${folder}/pid;\nevents {}\nhttp {\n${temporary}\n${site}}\n`,
  );
  return new Deno.Command("nginx", {
    args: ["-p", folder, "-e", join(folder, "start.log"), "-c", file],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
}

const peers = ["nginx", "fossil", "git", "openssl"].map(peer);

Deno.test(
  "streams, WebSockets, fossil, git and addresses pass through nginx, and tokens stay out of its logs",
  {
    ignore: peers.some(({ ignore }) => ignore),
  },
  async () => {
    await withProxy(nginx, async (proxied) => {
      await checkProxy(proxied);
      const logs = await Promise.all(
        ["muster.log", "muster.error.log", "start.log"].map((name) =>
          Deno.readTextFile(join(proxied.folder, name))
        ),
      );
      assert.match(logs.join(""), /"GET \/v1\/channels\/general\/stream" 200/);
      assert.equal(logs.join("").includes(proxied.program.token), false);
    });
  },
);
