import assert from "node:assert/strict";
import { HttpConnections } from "../../http/connections.ts";
import type { HttpConnection } from "../../http/connection.ts";
import { GUEST, OPERATOR, type Principal } from "../../services/people/identity/mod.ts";
import { silentLog } from "../../services/kernel/log.ts";

const LIMITS = {
  total: 4,
  perAddress: 2,
  headerMilliseconds: 60_000,
  idleMilliseconds: 60_000,
  answerMilliseconds: 60_000,
} as const;

function agent(number: number): Principal {
  return { ...GUEST, kind: "agent", id: String(number), name: `scout${number}` };
}

/** A table whose connections all leave at the end of a test. */
class Table implements Disposable {
  readonly connections = new HttpConnections({
    limits: LIMITS,
    isExempt: (address) => address === "127.0.0.1",
    onExhausted() {},
    log: silentLog,
  });
  readonly #entered: HttpConnection[] = [];

  enter(address: string, port = 8080): HttpConnection {
    const connection = this.connections.enter(address, port);
    assert.ok(connection);
    this.#entered.push(connection);
    return connection;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#entered) this.connections.leave(connection);
  }
}

function areCut(connections: readonly HttpConnection[]): boolean[] {
  return connections.map(({ signal }) => signal.aborted);
}

Deno.test("the oldest stranger of an address makes room for its next connection", () => {
  using table = new Table();
  const other = table.enter("192.0.2.2");
  const own = [table.enter("192.0.2.1"), table.enter("::ffff:192.0.2.1"), table.enter("192.0.2.1")];
  assert.deepEqual(areCut(own), [true, false, false]);
  assert.equal(other.signal.aborted, false);
  assert.equal(table.connections.stats().closed.address, 1);
});

Deno.test("an IPv6 /64 counts as one address", () => {
  using table = new Table();
  const own = ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3"].map((text) =>
    table.enter(text)
  );
  assert.deepEqual(areCut(own), [true, false, false]);
});

Deno.test("an exempt address has no bound of its own, but shares the total", () => {
  using table = new Table();
  const own = Array.from({ length: 5 }, () => table.enter("127.0.0.1"));
  assert.deepEqual(areCut(own), [true, false, false, false, false]);
  assert.equal(table.connections.stats().closed.full, 1);
});

Deno.test("a burst of strangers on one port spares new connections on another", () => {
  using table = new Table();
  const there = Array.from({ length: 4 }, () => table.enter("127.0.0.1", 8080));
  const here = Array.from({ length: 100 }, () => table.enter("127.0.0.1", 8081));
  assert.deepEqual(areCut(there), [true, true, false, false]);
  assert.deepEqual(areCut(here).lastIndexOf(true), 97);
});

Deno.test("a connection with a credential counts for no address and makes room for nobody", () => {
  using table = new Table();
  const trusted = [table.enter("192.0.2.1"), table.enter("192.0.2.1")];
  for (const [index, connection] of trusted.entries()) connection.trust(agent(index));
  const strangers = [table.enter("192.0.2.1"), table.enter("192.0.2.1"), table.enter("192.0.2.3")];
  assert.deepEqual(areCut(trusted), [false, false]);
  assert.deepEqual(areCut(strangers), [true, false, false]);
});

Deno.test("agents and people cannot fill the connections, so that the operator comes in", () => {
  using table = new Table();
  const others = Array.from({ length: LIMITS.total }, () => table.enter("127.0.0.1"));
  for (const [index, connection] of others.entries()) connection.trust(agent(index));
  const operator = table.enter("192.0.2.1");
  assert.deepEqual(areCut(others), [false, false, false, true]);
  operator.trust(OPERATOR);
  assert.equal(table.connections.enter("192.0.2.2", 8080), null);
  others.slice(0, 1).forEach((connection) => table.connections.leave(connection));
  const next = table.enter("127.0.0.1");
  next.trust(agent(LIMITS.total));
  assert.equal(table.connections.enter("192.0.2.2", 8080), null, "it is kept in the free place");
});

Deno.test("one agent keeps a quarter of the connections, and no more", () => {
  using table = new Table();
  table.connections.reconfigure({ ...LIMITS, total: 8 });
  const many = Array.from({ length: 8 }, () => table.enter("127.0.0.1"));
  for (const connection of many) connection.trust(agent(1));
  const other = table.enter("127.0.0.1");
  assert.deepEqual(areCut(many), [false, false, true, false, false, false, false, false]);
  other.trust(agent(2));
  for (let count = 0; count < 8; count++) table.enter("127.0.0.1");
  assert.equal(areCut([other, ...many]).filter((isCut) => !isCut).length, 3);
  for (const connection of many) table.connections.leave(connection);
  const next = table.enter("127.0.0.1");
  next.trust(agent(1));
  for (let count = 0; count < 8; count++) table.enter("127.0.0.1");
  assert.equal(next.signal.aborted, false, "its places are free again");
});

Deno.test("nobody is admitted when every connection is the operator's", () => {
  using table = new Table();
  for (let count = 0; count < LIMITS.total; count++) table.enter("127.0.0.1").trust(OPERATOR);
  assert.equal(table.connections.enter("192.0.2.1", 8080), null);
  assert.equal(table.connections.stats().connections, LIMITS.total);
});

Deno.test("lower bounds close strangers, the oldest first, and spare the others", () => {
  using table = new Table();
  const all = Array.from({ length: 4 }, () => table.enter("127.0.0.1"));
  all[0]?.trust(agent(0));
  table.connections.reconfigure({ ...LIMITS, total: 2 });
  assert.deepEqual(areCut(all), [false, true, true, false]);
  table.connections.reconfigure({ ...LIMITS, total: 0 });
  assert.deepEqual(areCut(all), [false, true, true, true]);
});

Deno.test("a connection of another node has the trust of its last request", () => {
  using table = new Table();
  const connection = table.enter("192.0.2.1");
  const trusted = [];
  for (const principal of [null, OPERATOR, null]) {
    connection.relay();
    if (principal !== null) connection.trust(principal);
    trusted.push(connection.trusted);
  }
  assert.deepEqual(trusted, [false, true, false]);
});
