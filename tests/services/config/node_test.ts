import assert from "node:assert/strict";
import { bridgeNickOf, consoleNickOf } from "../../../services/config/mod.ts";
import { configSchema } from "../../../services/config/schemas.ts";

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
