/** `deploy/cluster/`: what can be checked of it without containers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { peer } from "../support/peers.ts";
import { runMuster } from "../support/program.ts";
import { adapt } from "../support/proxy.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

const CLUSTER = new URL("../../deploy/cluster/", import.meta.url).pathname;

const names = z.array(z.string());

/** What the file uses of the specification of Compose; anything else is a mistake. */
const composeSchema = z.strictObject({
  name: z.string(),
  "x-muster": z.unknown(),
  services: z.record(
    z.string(),
    z.strictObject({
      image: z.string(),
      user: z.string().optional(),
      hostname: z.string().optional(),
      entrypoint: names.optional(),
      environment: z.record(z.string(), z.string()).optional(),
      network_mode: z.enum(["none"]).optional(),
      restart: z.enum(["unless-stopped"]).optional(),
      stop_grace_period: z.string().regex(/^\d+s$/).optional(),
      ports: z.array(z.string().regex(/^\d+:\d+$/)).optional(),
      volumes: z.array(z.string().regex(/^(\.\/|[a-z]+:)[^:]*(:|\/)/)).optional(),
      secrets: names.optional(),
      networks: z.strictObject({
        default: z.strictObject({ ipv4_address: z.ipv4() }),
      }).optional(),
      depends_on: z.record(
        z.string(),
        z.strictObject({
          condition: z.enum([
            "service_started",
            "service_healthy",
            "service_completed_successfully",
          ]),
        }),
      ).optional(),
      healthcheck: z.strictObject({
        test: names,
        start_period: z.string().optional(),
        interval: z.string(),
        timeout: z.string().optional(),
      }).optional(),
    }),
  ),
  networks: z.strictObject({
    default: z.strictObject({
      ipam: z.strictObject({
        config: z.array(z.strictObject({ subnet: z.cidrv4(), ip_range: z.cidrv4() })),
      }),
    }),
  }),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  volumes: z.record(z.string(), z.strictObject({})),
});

async function compose() {
  const text = await Deno.readTextFile(join(CLUSTER, "compose.yaml"));
  return composeSchema.parse(parse(text, { merge: true }));
}

/** The nodes of the file, by the names of their services. */
async function nodes(): Promise<[string, Readonly<Record<string, string>>][]> {
  const { services } = await compose();
  return Object.entries(services).flatMap(([name, { environment = {} }]) =>
    "MUSTER_NODE_NAME" in environment ? [[name, environment]] : []
  );
}

Deno.test("what compose.yaml names exists", async () => {
  const { services, secrets, volumes } = await compose();
  const readme = await Deno.readTextFile(join(CLUSTER, "README.md"));
  const used = new Set<string>();
  for (const [name, service] of Object.entries(services)) {
    for (const other of Object.keys(service.depends_on ?? {})) {
      assert.ok(other in services, `${name} depends on ${other}`);
      const { condition } = service.depends_on?.[other] ?? {};
      if (condition === "service_healthy") assert.ok(services[other]?.healthcheck, other);
    }
    for (const secret of service.secrets ?? []) {
      assert.equal(secrets[secret]?.file, `./secrets/${secret}`, name);
      assert.ok(readme.includes(secret), `The README makes ${secret}`);
    }
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      if (source.startsWith("./")) assert.ok((await Deno.stat(join(CLUSTER, source))).isFile);
      else used.add(source);
    }
  }
  assert.deepEqual([...used].sort(), Object.keys(volumes).sort());
});

Deno.test("Caddy knows the nodes, and each node has the address that it names", async () => {
  const caddyfile = await Deno.readTextFile(join(CLUSTER, "Caddyfile"));
  const [, upstreams = ""] = /reverse_proxy (.*) \{/.exec(caddyfile) ?? [];
  const found = await nodes();
  assert.equal(upstreams, found.map(([service]) => `${service}:8080`).join(" "));
  assert.match(caddyfile, /health_uri \/readyz/);
  const { services } = await compose();
  const { trusted_proxies } = parse(await Deno.readTextFile(join(CLUSTER, "muster.yaml")));
  assert.deepEqual(trusted_proxies, [services["caddy"]?.networks?.default.ipv4_address]);
  for (const [service, environment] of found) {
    assert.equal(environment["MUSTER_NODE_URL"], `http://${service}:8080`);
    assert.equal(service, `muster-${environment["MUSTER_NODE_NAME"]}`);
  }
});

/** The network of the containers is private, so IRC has no TLS in it, and muster warns of that. */
const WARNINGS = ["irc.addr", "irc.ergo.api_addr"].map((key) =>
  `warning: ${key}: Passwords travel to the IRC network in the clear: no TLS\n`
).join("");

Deno.test("muster accepts the configuration of each node", async () => {
  const text = await Deno.readTextFile(join(CLUSTER, "muster.yaml"));
  const { secrets } = await compose();
  const found = await nodes();
  assert.equal(found.length, 3);
  for (const [service, environment] of found) {
    await withFolder(async (folder) => {
      for (const secret of Object.keys(secrets)) await writeFile(folder, secret, "a-secret");
      // This machine may use the ports, and has no folders of containers.
      const config = adapt(text, [
        ["/run/secrets/", `${folder}/`],
        ["data_dir: /data", `data_dir: ${folder}/data`],
        ['":8080"', "127.0.0.1:0"],
        ['":8081"', "127.0.0.1:0"],
      ]);
      await writeFile(folder, "config.yaml", config);
      const { code, stdout, stderr } = await runMuster(["config", "check"], {
        folder,
        environment,
      });
      assert.deepEqual(
        [code, stdout, stderr],
        [0, "The configuration is valid\n", WARNINGS],
        service,
      );
    });
  }
});

Deno.test("Ergo's configuration fits muster's", async () => {
  const ircd = parse(await Deno.readTextFile(join(CLUSTER, "ergo", "ircd.yaml")));
  const muster = parse(await Deno.readTextFile(join(CLUSTER, "muster.yaml")));
  const { oper } = muster.irc.services;
  const networks = await Deno.readTextFile(join(CLUSTER, "../../docs/networks.md"));
  const [, capabilities] = /capabilities: \[(.*)\]/.exec(networks) ?? [];
  assert.equal(ircd["oper-classes"][ircd.opers[oper].class].capabilities.join(", "), capabilities);
  const port = (address: string) => address.slice(address.lastIndexOf(":"));
  assert.ok(port(muster.irc.addr) in ircd.server.listeners);
  assert.equal(ircd.api.listener, port(muster.irc.ergo.api_addr));
  assert.deepEqual([ircd.limits.nicklen, ircd.limits.channellen], [64, 80]);
  // Ergo holds a bridge back like everybody else.
  const { window, "burst-limit": burst, "messages-per-window": messages } = ircd.fakelag;
  assert.deepEqual(
    { lines_per_second: messages, line_burst: burst, window },
    { ...muster.bridge, window: "1s" },
  );
});

Deno.test("keys.sh gives every node the same keys, and replaces none", async () => {
  await withFolder(async (folder) => {
    const folders = ["a", "b", "c"].map((name) => join(folder, name));
    for (const path of folders) await Deno.mkdir(path);
    const keys = async () =>
      await Promise.all(folders.map((path) =>
        Promise.all(
          ["token_key", "event_key", "network_key"].map((name) =>
            Deno.readTextFile(join(path, name))
          ),
        )
      ));
    const run = () =>
      new Deno.Command("sh", { args: [join(CLUSTER, "keys.sh"), ...folders] }).output();
    assert.equal((await run()).code, 0);
    const made = await keys();
    for (const key of made[0] ?? []) assert.match(key, /^[0-9a-f]{64}$/);
    assert.equal(new Set(made[0]).size, 3);
    for (const others of made) assert.deepEqual(others, made[0]);
    const { mode } = await Deno.stat(join(folder, "b", "token_key"));
    assert.equal((mode ?? 0) & 0o777, 0o600);
    assert.equal((await run()).code, 0);
    assert.deepEqual(await keys(), made);

    await Deno.writeTextFile(join(folder, "c", "event_key"), "0".repeat(64));
    const { code, stderr } = await run();
    assert.equal(code, 1);
    assert.match(new TextDecoder().decode(stderr), /c\/event_key differs from .*a\/event_key/);
  });
});

Deno.test("shellcheck accepts keys.sh", peer("shellcheck"), async () => {
  const { code, stdout } = await new Deno.Command("shellcheck", {
    args: [join(CLUSTER, "keys.sh")],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stdout));
});
