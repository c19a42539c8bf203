import { kindOf } from "./foreign.ts";

/** The program of Ergo: the one that the environment names, or `ergo` on the `PATH`. */
export function ergoProgram(): string {
  return Deno.env.get("MUSTER_BENCH_ERGO") ?? "ergo";
}

/**
 * Ergo with its defaults, with history in memory, and without limits that slow or disconnect a
 * client.
 */
export const ERGO = kindOf({
  name: "ergo",
  executable: ergoProgram(),
  capabilities: ["server-time", "message-tags"],
  prepare: (configFile) => ["initdb", "--quiet", "--conf", configFile],
  args: (configFile) => ["run", "--quiet", "--conf", configFile],
  config: (port) =>
    `network: { name: bench }
server:
  name: irc.bench.local
  listeners: { "127.0.0.1:${port}": {} }
  casemapping: ascii
  enforce-utf8: true
  lookup-hostnames: false
  max-sendq: 100M
  ip-limits: { count: false, throttle: false }
  ip-cloaking: { enabled: true, netname: bench }
accounts:
  authentication-enabled: true
  registration: { enabled: true }
  multiclient: { enabled: true, allowed-by-default: true, always-on: opt-in }
  nick-reservation: { enabled: true }
channels:
  default-modes: +nt
  registration: { enabled: true }
datastore: { path: ergo.db }
languages: { enabled: false }
fakelag: { enabled: false }
limits:
  nicklen: 32
  identlen: 20
  realnamelen: 150
  channellen: 64
  awaylen: 390
  kicklen: 390
  topiclen: 390
  monitor-entries: 100
  whowas-entries: 100
  chan-list-modes: 100
  registration-messages: 1024
  multiline: { max-bytes: 4096, max-lines: 100 }
history:
  enabled: true
  channel-length: 1000
  client-length: 256
  autoresize-window: 3d
  autoreplay-on-join: 0
  chathistory-maxmessages: 1000
  znc-maxmessages: 1000
logging: []
`,
});
