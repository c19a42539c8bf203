import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "yaml";
import {
  ConfigError,
  formatAddress,
  loadConfig,
  parseAddress,
} from "../../../../services/operation/config/mod.ts";
import { configSchema } from "../../../../services/operation/config/schemas.ts";
import { listKeys } from "../../../../services/operation/config/reference/mod.ts";
import { withFolder, writeFile } from "../../../support/temporary.ts";

const NOTHING = { file: "/nowhere/config.yaml", fileRequired: false, environment: {}, flags: {} };

Deno.test("loadConfig() returns the defaults if nothing is configured", async () => {
  const { config, warnings } = await loadConfig(NOTHING);
  assert.equal(config.api_addr, "127.0.0.1:8080");
  assert.deepEqual(config.bridge.channels, ["#general"]);
  assert.deepEqual(warnings, []);
});

Deno.test("config.example.yaml names every key with its default", async () => {
  const text = await Deno.readTextFile(
    join(import.meta.dirname ?? ".", "../../../../config.example.yaml"),
  );
  assert.deepEqual(parse(text), configSchema.parse({}));
});

Deno.test("every key and group has a description", () => {
  const keys = listKeys();
  assert.ok(keys.length > 100);
  assert.deepEqual(keys.filter(({ description }) => description === ""), []);
});

Deno.test("loadConfig() prefers the environment to the file, and flags to both", async () => {
  await withFolder(async (folder) => {
    const file = await writeFile(
      folder,
      "c.yaml",
      'irc: { motd: one, server_name: a.example }\napi_addr: ":1"\n',
    );
    const { config } = await loadConfig({
      file,
      fileRequired: true,
      environment: {
        MUSTER_API_ADDR: ":2",
        MUSTER_IRC_MOTD: "two",
        MUSTER_BRIDGE_CHANNELS: '["#a"]',
      },
      flags: { "irc.motd": "three" },
    });
    assert.equal(config.irc.server_name, "a.example");
    assert.equal(config.api_addr, ":2");
    assert.equal(config.irc.motd, "three");
    assert.deepEqual(config.bridge.channels, ["#a"]);
  });
});

Deno.test("loadConfig() reads an address without a host as every interface", async () => {
  const environment = { MUSTER_API_ADDR: ":8080", MUSTER_MCP_ADDR: ":8081" };
  const { config } = await loadConfig({ ...NOTHING, environment });
  for (const [text, port] of [[config.api_addr, 8080], [config.mcp_addr, 8081]] as const) {
    assert.deepEqual(parseAddress(text), { hostname: "0.0.0.0", port });
  }
});

Deno.test("loadConfig() warns of variables that are no key, except those with another use", async () => {
  const environment = { MUSTER_SERVICE_HOST: "10.0.0.1", MUSTER_API_TOKEN: "x", HOME: "/root" };
  const { warnings } = await loadConfig({ ...NOTHING, environment });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /MUSTER_SERVICE_HOST/);
});

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    "an unknown key",
    "api_addr: :1\nirc:\n  lisen: x\n",
    /c\.yaml:3: irc\.lisen: is not a key of muster; did you mean "irc\.listen"\?$/,
  ],
  ["an unknown key at the top", "api_adr: :1\n", /not a key of muster; did you mean "api_addr"\?$/],
  ["a key like no other", "irc:\n  zzz: x\n", /c\.yaml:2: irc\.zzz: is not a key of muster$/],
  ["a wrong type", "bridge:\n  enabled: perhaps\n", /c\.yaml:2: bridge\.enabled: must be/],
  ["a value out of range", "bridge:\n\n  buffer_size: 0\n", /c\.yaml:3: bridge\.buffer_size/],
  ["an address that is none", "api_addr: localhost\n", /c\.yaml:1: api_addr: must be/],
  [
    "an entry of a list",
    "tls:\n  acme:\n    domains:\n      - a.example\n      - https://x\n",
    /c\.yaml:5: tls\.acme\.domains\[1\]: must be a host name/,
  ],
  ["broken YAML", "api_addr: [\n", /c\.yaml:\d+: (?!.*\bat line)/],
  ["a key that stands twice", "irc:\n  listen: x\nirc: {}\n", /c\.yaml:3: irc: stands twice$/],
  ["a list at the top", "- a\n", /c\.yaml:1: the file must hold/],
  ["TLS without a key", "tls: { cert: a.pem }\n", /c\.yaml:1: tls: must name both/],
  [
    "TLS listening without a certificate",
    "irc: { tls_listen: ':6697' }\n",
    /irc\.tls_listen: needs/,
  ],
  ["STS without TLS", "irc:\n  sts: { enabled: true }\n", /c\.yaml:2: irc\.sts\.enabled: needs/],
];

for (const [name, text, expected] of REFUSED) {
  Deno.test(`loadConfig() refuses ${name}, naming line and key`, async () => {
    await withFolder(async (folder) => {
      const file = await writeFile(folder, "c.yaml", text);
      await assert.rejects(
        loadConfig({ ...NOTHING, file }),
        (error) => error instanceof ConfigError && expected.test(error.message),
      );
    });
  });
}

Deno.test("loadConfig() names the variable that holds a wrong value", async () => {
  const environment = { MUSTER_BRIDGE_BUFFER_SIZE: "many" };
  await assert.rejects(loadConfig({ ...NOTHING, environment }), /MUSTER_BRIDGE_BUFFER_SIZE/);
  const list = { MUSTER_TLS_ACME_DOMAINS: "[a.example, 'https://x']" };
  await assert.rejects(
    loadConfig({ ...NOTHING, environment: list }),
    /^ConfigError: MUSTER_TLS_ACME_DOMAINS: tls\.acme\.domains\[1\]: must be a host name/m,
  );
});

Deno.test("loadConfig() refuses a named file that does not exist", async () => {
  await assert.rejects(loadConfig({ ...NOTHING, fileRequired: true }), ConfigError);
});

Deno.test("parseAddress() reads host and port, and formatAddress() writes them back", () => {
  assert.deepEqual(parseAddress(":80"), { hostname: "0.0.0.0", port: 80 });
  assert.deepEqual(parseAddress("[::1]:80"), { hostname: "::1", port: 80 });
  for (const text of ["127.0.0.1:0", "[::1]:6697", "example.org:443"]) {
    const address = parseAddress(text);
    assert.equal(address && formatAddress(address), text);
  }
  for (const text of ["80", "a:b", "a:65536", "a b:1", "::1:80", ""]) {
    assert.equal(parseAddress(text), null);
  }
});
