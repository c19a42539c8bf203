/** Assignees, labels and blockers of tickets. */
import assert from "node:assert/strict";
import {
  listTickets,
  Reader,
  readTicket,
  Repository,
  writeTicketChange,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture, refuses } from "./support/fixture.ts";
import { judged } from "./support/judges.ts";

const field = (name: string, value: string) => ({ name, value, append: false });

function fileTicket(fixture: Fixture, title: string, ...fields: ReturnType<typeof field>[]) {
  const change = { ...fixture.author(), fields: [field("title", title), ...fields] };
  return writeTicketChange(fixture.repository, change).ticket;
}

function set(fixture: Fixture, ticket: string, ...fields: ReturnType<typeof field>[]) {
  writeTicketChange(fixture.repository, { ...fixture.author(), ticket, fields });
}

/** The titles of the tickets that a list has. */
function titles(repository: Repository, options: Parameters<typeof listTickets>[1]) {
  return listTickets(new Reader(repository), options).tickets.map(({ title }) => title).sort();
}

judged("a repository gets the fields with the first change that sets one", (program) => {
  using fixture = new Fixture(program);
  const { repository } = fixture;
  const reader = new Reader(repository);
  const one = fileTicket(fixture, "One");
  assert.deepEqual(titles(repository, { isBlocked: false, label: "ui" }), []);
  const two = fileTicket(
    fixture,
    "Two",
    field("assignee", "scout"),
    field("labels", "ui, big  one,UI"),
    field("blocked_by", one),
  );
  fixture.assertSound();
  assert.match(fixture.fossil("ticket", "list", "fields"), /^assignee\n[\s\S]*^labels$/m);
  const ref = readTicket(reader, two);
  assert.deepEqual([ref.assignee, ref.labels, ref.is_blocked], ["scout", ["ui", "big one"], true]);
  assert.deepEqual(ref.blocked_by, [{ uuid: one, is_closed: false }]);
  assert.equal(readTicket(reader, one).is_blocked, false);

  fixture.fossil("ticket", "set", one, "assignee", "Ada", "labels", "big one");
  fixture.fossil("ticket", "set", two, "blocked_by", `${one.slice(0, 10)}, nothing 12`);
  assert.deepEqual(readTicket(reader, two).blocked_by, [{ uuid: one, is_closed: false }]);
  assert.deepEqual(titles(repository, { label: "Big One" }), ["One", "Two"]);
  assert.deepEqual(titles(repository, { assignee: "ADA" }), ["One"]);
  assert.deepEqual(titles(repository, { assignee: "" }), []);
  assert.deepEqual(titles(repository, { for: "scout" }), ["Two"]);
  assert.deepEqual(titles(repository, { isBlocked: true }), ["Two"]);

  fixture.fossil("ticket", "set", one, "status", "Closed");
  assert.deepEqual(titles(repository, { isBlocked: true }), []);
  assert.equal(readTicket(reader, two).is_blocked, false);
  fixture.assertSound();
});

judged("a value that came before the field is there afterwards", (program) => {
  using fixture = new Fixture(program);
  const { repository } = fixture;
  const one = fileTicket(fixture, "One");
  repository.write({ user: "ada", ip: null }, () => {
    const { date, user } = fixture.author();
    const fields = [field("title", "Early"), field("blocked_by", one)];
    repository.add({ kind: "ticket", date, ticket: "ab".repeat(20), user, fields });
  });
  assert.deepEqual(titles(repository, { isBlocked: true }), []);
  refuses("conflict", () => set(fixture, one, field("blocked_by", "ab".repeat(20))));
  assert.deepEqual(titles(repository, { isBlocked: true }), []);
  set(fixture, one, field("labels", "x"));
  assert.deepEqual(titles(repository, { isBlocked: true }), ["Early"]);
  fixture.assertSound();
});

judged("a ticket cannot wait for itself, and circles from elsewhere do no harm", (program) => {
  using fixture = new Fixture(program);
  const { repository } = fixture;
  const chain = [fileTicket(fixture, "0")];
  for (let at = 1; at < 30; at++) {
    chain.push(fileTicket(fixture, String(at), field("blocked_by", chain[at - 1]!)));
  }
  const [first = "", second = ""] = chain;
  refuses("conflict", () => set(fixture, first, field("blocked_by", first)));
  refuses("conflict", () => set(fixture, first, field("blocked_by", chain.at(-1)!)));
  refuses("conflict", () => set(fixture, first, field("blocked_by", second.slice(0, 12))));
  assert.deepEqual(titles(repository, { isBlocked: false }), ["0"]);

  fixture.fossil("ticket", "set", first, "blocked_by", chain.at(-1)!);
  assert.deepEqual(titles(repository, { isBlocked: false }), []);
  set(fixture, fileTicket(fixture, "outside"), field("blocked_by", first));
  refuses("conflict", () => set(fixture, second, field("blocked_by", first)));
  set(fixture, second, field("blocked_by", ""));
  assert.deepEqual(titles(repository, { isBlocked: false }), ["1"]);
  fixture.assertSound();
});
