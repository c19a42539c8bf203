import assert from "node:assert/strict";
import { loadConfig } from "../../../../services/operation/config/mod.ts";
import { DEFAULTS } from "../../../../services/operation/config/defaults.ts";
import { plainConfig } from "../../../../services/operation/config/load.ts";
import { configSchema } from "../../../../services/operation/config/schemas.ts";

const NO_FILE = { file: "/nonexistent/config.yaml", fileRequired: false };

Deno.test("the defaults without the schema are those of the schema", () => {
  assert.deepEqual(DEFAULTS, configSchema.parse({}));
});

Deno.test("addresses, the folder and the log level need no schema, and mean the same", () => {
  const environment = { MUSTER_DATA_DIR: "/tmp/x", MUSTER_IRC_LISTEN: "", MUSTER_TOKEN: "t" };
  const flags = { "api_addr": ":9090", "mcp_addr": "[::1]:0", "log.level": "debug" };
  const expected = configSchema.parse({
    data_dir: "/tmp/x",
    irc: { listen: "" },
    api_addr: ":9090",
    mcp_addr: "[::1]:0",
    log: { level: "debug" },
  });
  assert.deepEqual(plainConfig({ environment, flags }), expected);
});

Deno.test("whatever else is set, or is wrong, is left to the schema", async () => {
  const cases: [Record<string, string>, Record<string, string>][] = [
    [{ MUSTER_BRIDGE_NICK: "b" }, {}],
    [{ MUSTER_UNKNOWN: "b" }, {}],
    [{ MUSTER_DATA_DIR: "" }, {}],
    [{}, { "api_addr": "nowhere" }],
    [{}, { "log.level": "loud" }],
  ];
  for (const [environment, flags] of cases) {
    assert.equal(plainConfig({ environment, flags }), null);
  }
  await assert.rejects(
    loadConfig({ ...NO_FILE, environment: {}, flags: { "api_addr": "nowhere" } }),
    /the command line: api_addr: must be "host:port"/,
  );
  const { warnings } = await loadConfig({
    ...NO_FILE,
    environment: { MUSTER_UNKNOWN: "b" },
    flags: {},
  });
  assert.equal(warnings.length, 1);
});
