import assert from "node:assert/strict";
import {
  bridgeNickOf,
  ConfigError,
  consoleNickOf,
  loadConfig,
} from "../../../../services/operation/config/mod.ts";
import { configSchema } from "../../../../services/operation/config/schemas.ts";
import { withFolder, writeFile } from "../../../support/temporary.ts";

const ERGO = {
  MUSTER_IRC_MODE: "external",
  MUSTER_IRC_ADDR: "irc.example.com:6697",
  MUSTER_IRC_ERGO_API_ADDR: "127.0.0.1:8089",
  MUSTER_IRC_ERGO_API_TOKEN: "0123456789",
  MUSTER_IRC_SERVICES_OPER: "muster",
  MUSTER_IRC_SERVICES_OPER_PASSWORD: "true",
};

const ATHEME = {
  MUSTER_IRC_MODE: "external",
  MUSTER_IRC_ADDR: "[::1]:6667",
  MUSTER_IRC_SERVICES_KIND: "atheme",
  MUSTER_IRC_SERVICES_ACCOUNT: "muster",
  MUSTER_IRC_SERVICES_PASSWORD_FILE: "/run/secrets/services",
  MUSTER_IRC_SERVICES_OPER: "muster",
  MUSTER_IRC_SERVICES_OPER_PASSWORD_FILE: "/run/secrets/oper",
};

function load(environment: Readonly<Record<string, string>>) {
  return loadConfig({ file: "/nowhere", fileRequired: false, environment, flags: {} });
}

Deno.test("the environment configures a network, and its secrets stay unchanged", async () => {
  const { config: { irc } } = await load(ERGO);
  assert.equal(irc.ergo.api_token, "0123456789");
  assert.equal(irc.services.oper_password, "true");
  assert.equal((await load(ATHEME)).config.irc.services.kind, "atheme");
  const url = { ...ERGO, MUSTER_IRC_ERGO_API_ADDR: "https://irc.example.com:8089" };
  assert.equal((await load(url)).config.irc.ergo.api_addr, "https://irc.example.com:8089");
});

Deno.test("a network's missing keys are named", async () => {
  const cases = [
    [ERGO, "MUSTER_IRC_ADDR", "", "irc.addr"],
    [ERGO, "MUSTER_IRC_ADDR", ":6667", "irc.addr"],
    [ERGO, "MUSTER_IRC_ADDR", "irc.example.com", "irc.addr"],
    [ERGO, "MUSTER_IRC_ERGO_API_ADDR", "", "irc.services.kind"],
    [ERGO, "MUSTER_IRC_ERGO_API_ADDR", "ftp://there", "irc.ergo.api_addr"],
    [ERGO, "MUSTER_IRC_ERGO_API_TOKEN", "", "irc.ergo.api_token"],
    [ERGO, "MUSTER_IRC_ERGO_API_TOKEN_FILE", "/run/secrets/token", "irc.ergo.api_token"],
    [ERGO, "MUSTER_IRC_SERVICES_OPER", "", "irc.services.oper"],
    [ERGO, "MUSTER_IRC_SERVICES_OPER_PASSWORD", "", "irc.services.oper_password"],
    [ERGO, "MUSTER_IRC_SERVICES_KIND", "anope", "irc.services.kind"],
    [ERGO, "MUSTER_IRC_SERVICES_ACCOUNT", "muster", "irc.services.password"],
    [ERGO, "MUSTER_IRC_MODE", "embedded", "irc.addr"],
    [ATHEME, "MUSTER_IRC_SERVICES_KIND", "other", "irc.services.kind"],
    [ATHEME, "MUSTER_IRC_SERVICES_ACCOUNT", "", "irc.services.account"],
    [ATHEME, "MUSTER_IRC_SERVICES_PASSWORD_FILE", "", "irc.services.password"],
    [ATHEME, "MUSTER_IRC_SERVICES_NICKSERV", "Nick Serv", "irc.services.nickserv"],
  ] as const;
  for (const [environment, variable, text, key] of cases) {
    await assert.rejects(load({ ...environment, [variable]: text }), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.ok(error.message.includes(` ${key}: `), `${variable}=${text}: ${error.message}`);
      return true;
    });
  }
});

Deno.test("an error in a network's file names the line", async () => {
  await withFolder(async (folder) => {
    const text = "irc:\n  mode: external\n  addr: a:1\n  ergo: { api_addr: a:2 }\n";
    const file = await writeFile(folder, "c.yaml", text);
    const loading = loadConfig({ file, fileRequired: true, environment: {}, flags: {} });
    await assert.rejects(loading, { message: /c\.yaml:4: irc\.ergo\.api_token: is needed/ });
  });
});

function configOf(name: string, more: Readonly<Record<string, unknown>> = {}) {
  return configSchema.safeParse({
    node: { name, url: name === "" ? "" : "http://10.0.0.1:8080" },
    database: { url: name === "" ? "" : "postgres://muster@db/muster" },
    irc: {
      mode: "external",
      addr: "irc.example:6667",
      ergo: { api_addr: "irc.example:8089", api_token: "secret" },
      services: { oper: "muster", oper_password: "secret" },
    },
    ...more,
  });
}

Deno.test("each node has its own nicks on the network", () => {
  const nicks = { "": "bridge", "a": "bridge-a", "east-2": "bridge-east-2" };
  for (const [name, bridge] of Object.entries(nicks)) {
    const { data } = configOf(name);
    if (data === undefined) return assert.fail();
    assert.deepEqual([bridgeNickOf(data), consoleNickOf(data)], [bridge, `${bridge}-console`]);
  }
});

Deno.test("no node's bridge has the nick of another one's console", () => {
  const { error } = configOf("a-console");
  assert.match(error?.message ?? "", /must not end in/);
});

Deno.test("a node keeps connections longer than other nodes use them", () => {
  const { error } = configOf("a", { limits: { idle_seconds: 9 } });
  assert.match(error?.message ?? "", /must be at least 10 on a node/);
  for (const [name, seconds] of [["a", 10], ["", 1]] as const) {
    assert.ok(configOf(name, { limits: { idle_seconds: seconds } }).success);
  }
});
