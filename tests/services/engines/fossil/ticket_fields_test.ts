import assert from "node:assert/strict";
import {
  addTicketField,
  listTickets,
  Reader,
  readTicket,
  removeTicketField,
  Repository,
  writeTicketChange,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture, refuses } from "./support/fixture.ts";
import { judged } from "./support/judges.ts";

const field = (name: string, value: string, append = false) => ({ name, value, append });

function fileTicket(fixture: Fixture, ...fields: ReturnType<typeof field>[]): string {
  return writeTicketChange(fixture.repository, { ...fixture.author(), fields }).ticket;
}

judged(
  "a custom ticket field is one for the program too, and a rebuild changes nothing",
  (program) => {
    using fixture = new Fixture(program);
    const { repository } = fixture;
    const reader = new Reader(repository);
    const old = fileTicket(fixture, field("title", "Old"), field("comment", "See [abcd1234]"));
    addTicketField(repository, { ...fixture.author(), name: "Customer_1", type: "text" });
    addTicketField(repository, { ...fixture.author(), name: "points", type: "number" });
    const made = fileTicket(
      fixture,
      field("title", "New"),
      field("Customer_1", "Zoë's [abcd5678]"),
    );
    writeTicketChange(repository, {
      ...fixture.author(),
      ticket: old,
      fields: [field("points", "3")],
    });
    fixture.assertSound();

    assert.match(fixture.fossil("ticket", "list", "fields"), /^Customer_1\n[\s\S]*^points$/m);
    fixture.fossil("ticket", "set", made, "Customer_1", "Ada", "points", "12");
    const shown = fixture.fossil("ticket", "show", "0").split("\n").map((line) => line.split("\t"));
    const column = (name: string) => shown.slice(1).map((row) => row[shown[0]?.indexOf(name) ?? 0]);
    assert.deepEqual([column("Customer_1"), column("points")].map((it) => it.slice(0, 2).sort()), [
      ["", "Ada"],
      ["12", "3"],
    ]);
    const { Customer_1, points, title } = readTicket(reader, made).fields;
    assert.deepEqual({ Customer_1, points, title }, {
      Customer_1: "Ada",
      points: "12",
      title: "New",
    });
    fixture.assertSound();

    removeTicketField(repository, { ...fixture.author(), name: "Customer_1" });
    assert.doesNotMatch(fixture.fossil("ticket", "list", "fields"), /Customer_1/);
    assert.equal("Customer_1" in readTicket(reader, made).fields, false);
    fixture.assertSound();
    addTicketField(repository, { ...fixture.author(), name: "Customer_1", type: "text" });
    assert.equal(readTicket(reader, made).fields["Customer_1"], "Ada");
    fixture.assertSound();
  },
);

judged("fields are added to ticket schemas of any form, and removed from them", (program) => {
  const schemas = [
    `-- a comment; CREATE TABLE ticket(
     CREATE TABLE IF NOT EXISTS "ticket" (tkt_id INTEGER PRIMARY KEY, tkt_uuid TEXT UNIQUE,
       tkt_mtime DATE, title TEXT DEFAULT 'a, b) -- c', [status] TEXT CHECK(status<>',') -- last, one
       , CONSTRAINT c UNIQUE(tkt_uuid, tkt_mtime) /* end */ );
     CREATE TABLE ticketchng(tkt_id INTEGER, tkt_mtime DATE, icomment TEXT);
     CREATE INDEX own ON ticketchng(tkt_id)`,
    `CREATE TABLE ticketchng(tkt_id INTEGER, tkt_mtime DATE, icomment);
     create table ticket(first, tkt_id INTEGER PRIMARY KEY, tkt_uuid TEXT UNIQUE, tkt_mtime DATE,
       title, status)`,
  ];
  for (const schema of schemas) {
    using fixture = new Fixture(program);
    const { repository } = fixture;
    repository.write(
      { user: "alice", ip: null },
      () => repository.config.set("ticket-table", schema),
    );
    repository.rebuild();
    const columns = repository.db.columns("ticket");
    for (const name of ["one", "two", "three"]) {
      addTicketField(repository, { ...fixture.author(), name, type: "text" });
    }
    fileTicket(fixture, field("title", "T"), field("one", "1"), field("three", "3"));
    fixture.assertSound();
    for (const name of ["two", "three", "one"]) {
      removeTicketField(repository, { ...fixture.author(), name });
      fixture.assertSound();
    }
    assert.deepEqual(repository.db.columns("ticket"), columns);
    if (!columns.includes("first")) continue;
    removeTicketField(repository, { ...fixture.author(), name: "first" });
    assert.deepEqual(repository.db.columns("ticket"), columns.slice(1));
    fixture.assertSound();
  }
});

judged("a new field makes only those tickets again that have set it already", (program) => {
  using fixture = new Fixture(program);
  const { repository } = fixture;
  const tickets = ["One", "Two"].map((title) => fileTicket(fixture, field("title", title)));
  const add = (name: string) =>
    addTicketField(repository, { ...fixture.author(), name, type: "text" });
  const values = (column: string) => {
    const select = `SELECT ${column} AS value FROM ticket ORDER BY tkt_mtime`;
    return repository.db.rows<{ value: unknown }>(select).map(({ value }) => value);
  };
  add("customer");
  const [ticket = ""] = tickets;
  for (const said of [field("customer", "Ada"), field("customer", " [abcd1234]", true)]) {
    writeTicketChange(repository, { ...fixture.author(), ticket, fields: [said] });
  }
  removeTicketField(repository, { ...fixture.author(), name: "customer" });
  fixture.assertSound();
  const ids = values("tkt_id");
  add("customer");
  fixture.assertSound();
  assert.deepEqual(values("customer"), [null, "Ada [abcd1234]"]);
  assert.equal(values("tkt_id")[0], ids[0]);
  repository.write(
    { user: "alice", ip: null },
    () => repository.config.set("ticket-title-expr", "label"),
  );
  add("label");
  fixture.assertSound();
});

judged(
  "a schema that another program has changed without a rebuild holds from then on",
  (program) => {
    using fixture = new Fixture(program);
    const { repository } = fixture;
    const customer = { ...fixture.author(), name: "customer", type: "text" } as const;
    addTicketField(repository, customer);
    fileTicket(fixture, field("title", "One"), field("customer", "Ada"));
    removeTicketField(repository, customer);
    repository.write({ user: "alice", ip: null }, () => {
      const schema = "CREATE TABLE ticket(tkt_id INTEGER PRIMARY KEY, tkt_uuid TEXT UNIQUE, " +
        "tkt_mtime DATE, title TEXT, customer TEXT);CREATE TABLE ticketchng(tkt_id INTEGER, " +
        "tkt_mtime DATE, icomment TEXT)";
      repository.config.set("ticket-table", schema);
    });
    addTicketField(repository, { ...fixture.author(), name: "points", type: "number" });
    assert.equal(repository.db.value("SELECT customer FROM ticket"), "Ada");
    fixture.assertSound();
  },
);

Deno.test("a field that cannot be defined leaves the tickets as they are", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const ticket = fileTicket(fixture, field("title", "T"));
  const add = (name: string) => () =>
    addTicketField(repository, { ...fixture.author(), name, type: "text" });
  const remove = (name: string) => () =>
    removeTicketField(repository, { ...fixture.author(), name });
  const bad = [
    "",
    "1a",
    "_a",
    "a b",
    "a-b",
    "é",
    "a\n",
    "a".repeat(65),
    "tkt_x",
    "TKT_Y",
    "Status",
  ];
  for (const name of [...bad, "icomment", "select", "order", "unique", "check"]) {
    refuses("invalid", add(name));
  }
  add("Team")();
  refuses("conflict", add("team"));
  refuses("missing", remove("team"));
  refuses("missing", remove("nothing"));
  refuses("invalid", remove("tkt_uuid"));
  refuses("invalid", remove("Title"));
  repository.write({ user: "alice", ip: null }, () => {
    repository.config.set("ticket-status-column", "Team");
  });
  refuses("conflict", remove("Team"));
  for (let index = 1; index < 50; index++) add(`f${index}`)();
  refuses("conflict", add("f50"));
  assert.equal(readTicket(new Reader(repository), ticket).title, "T");
  assert.equal(Object.keys(readTicket(new Reader(repository), ticket).fields).length, 60);

  const index = "CREATE INDEX own ON ticket(f1)";
  const schema = `${repository.config.get("ticket-table")};${index};`;
  repository.write({ user: "alice", ip: null }, () => {
    repository.config.set("ticket-table", schema);
  });
  repository.rebuild();
  refuses("conflict", remove("f1"));
  remove("f2")();
  fixture.assertSound();
});

Deno.test("a number of any length is read as text, and tickets are found by a field's value", () => {
  using fixture = new Fixture();
  const { repository, path } = fixture;
  addTicketField(repository, { ...fixture.author(), name: "points", type: "number" });
  addTicketField(repository, { ...fixture.author(), name: "team", type: "text" });
  const large = fileTicket(fixture, field("title", "large"), field("points", "9007199254740993"));
  fileTicket(fixture, field("title", "five"), field("points", "5"), field("team", "a'b"));
  using other = Repository.open(path);
  const reader = new Reader(other);
  assert.equal(readTicket(reader, large).fields["points"], "9007199254740993");
  const found = (name: string, value: string) =>
    listTickets(reader, { field: { name, value } }).tickets.map(({ title }) => title);
  assert.deepEqual(found("points", "5.0"), ["five"]);
  assert.deepEqual(found("points", "9007199254740993"), ["large"]);
  assert.deepEqual(found("team", "a'b"), ["five"]);
  assert.deepEqual(found("team", ""), ["large"]);
  assert.deepEqual(found("team", "' OR 1 --"), []);
  for (const name of ["tkt_uuid", "nothing", 'team" OR 1 --', "icomment"]) {
    refuses("invalid", () => found(name, ""));
  }
});
