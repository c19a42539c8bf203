import assert from "node:assert/strict";
import { mock } from "node:test";
import { type Bounded, Descriptors } from "../../cli/connections.ts";
import type { Config } from "../../services/operation/config/mod.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import { silentLog } from "../../services/kernel/log.ts";

/** A program that has so many connections open, and notes the bounds that it is given. */
function programWith(http: number, irc: number) {
  const lowered: Config[] = [];
  const bounded: Bounded = {
    open: () => ({ http, irc }),
    lower: (config) => lowered.push(config),
  };
  return { bounded, lowered };
}

function boundsOf(config: Config | undefined): { http: number; irc: number } | null {
  if (config === undefined) return null;
  return { http: config.limits.connections, irc: config.irc.limits.connections };
}

Deno.test("bounds stay as configured until descriptors run out", () => {
  using descriptors = new Descriptors(silentLog);
  const config = configSchema.parse({});
  assert.deepEqual(descriptors.fit(config), config);
});

Deno.test("after descriptors run out, HTTP and IRC share three quarters of the open connections equally", () => {
  using descriptors = new Descriptors(silentLog);
  const config = configSchema.parse({});
  const { bounded, lowered } = programWith(600, 200);
  descriptors.exhausted(config, bounded);
  assert.deepEqual(lowered.map(boundsOf), [{ http: 300, irc: 300 }]);
  assert.deepEqual(boundsOf(descriptors.fit(config)), { http: 300, irc: 300 });
});

Deno.test("failures in a row lower the bounds once", () => {
  using descriptors = new Descriptors(silentLog);
  const config = configSchema.parse({});
  const { bounded, lowered } = programWith(600, 200);
  descriptors.exhausted(config, bounded);
  descriptors.exhausted(config, bounded);
  assert.equal(lowered.length, 1);
});

Deno.test("a few connections are always admitted, and lower configured bounds stay", () => {
  using descriptors = new Descriptors(silentLog);
  descriptors.exhausted(configSchema.parse({}), programWith(1, 0).bounded);
  assert.deepEqual(boundsOf(descriptors.fit(configSchema.parse({}))), { http: 16, irc: 16 });
  const lower = configSchema.parse({ limits: { connections: 8 } });
  assert.deepEqual(boundsOf(descriptors.fit(lower)), { http: 8, irc: 16 });
});

Deno.test("an IRC client behind a relay counts for three descriptors", () => {
  using descriptors = new Descriptors(silentLog);
  const config = configSchema.parse({ irc: { websocket_listen: "127.0.0.1:0" } });
  const { bounded, lowered } = programWith(600, 200);
  descriptors.exhausted(config, bounded);
  assert.deepEqual(lowered.map(boundsOf), [{ http: 300, irc: 100 }]);
});

Deno.test("a later failure lowers the bounds only if fewer connections are open", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    using descriptors = new Descriptors(silentLog);
    const config = configSchema.parse({});
    const noted = [600, 900, 300].map((http) => {
      const { bounded, lowered } = programWith(http, 200);
      descriptors.exhausted(config, bounded);
      mock.timers.tick(1000);
      return lowered.map(boundsOf);
    });
    assert.deepEqual(noted, [[{ http: 300, irc: 300 }], [], [{ http: 187, irc: 187 }]]);
  } finally {
    mock.timers.reset();
  }
});
