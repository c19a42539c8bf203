import assert from "node:assert/strict";
import {
  encodeUtf8,
  formatArtifact,
  writeAttachment,
  writeForumPost,
  writeTechnote,
  writeTicketChange,
  writeWiki,
} from "../../../../services/engines/fossil/mod.ts";
import { judged } from "./support/judges.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";
import { History } from "./support/history.ts";
import { difference, dumpTables } from "./support/tables.ts";

judged("wiki, tickets, technotes, attachments and forum are what fossil shows", (program) => {
  using fixture = new Fixture(program);
  const { repository, scratch } = fixture;
  const markdown = { mimetype: "text/x-markdown" };
  writeWiki(repository, { ...fixture.author(), ...markdown, title: "Home ü", text: "# One\n" });
  writeWiki(repository, { ...fixture.author(), ...markdown, title: "Home ü", text: "# Two\n" });
  assert.equal(fixture.fossil("wiki", "export", "Home ü"), "# Two\n");
  const open = { name: "status", value: "Open", append: false };
  const title = { name: "title", value: "It's <broken>", append: false };
  const { ticket } = writeTicketChange(repository, {
    ...fixture.author(),
    fields: [open, title],
  });
  const fields = [{ name: "comment", value: "more", append: true }, { ...open, value: "Fixed" }];
  writeTicketChange(repository, { ...fixture.author("bob"), ticket, fields });
  const history = fixture.fossil("ticket", "history", ticket);
  assert.match(history, /It's <broken>/);
  assert.match(history, /Fixed/);
  const contact = { name: "private_contact", value: "bob@example.org", append: false };
  writeTicketChange(repository, { ...fixture.author(), ticket, fields: [contact] });
  assert.doesNotMatch(fixture.fossil("ticket", "history", ticket), /bob@example/);
  const content = encodeUtf8("a log");
  writeAttachment(repository, { ...fixture.author(), target: ticket, name: "log", content });
  writeAttachment(repository, {
    ...fixture.author(),
    target: ticket,
    name: "log",
    content: null,
  });
  const note = { eventDate: History.start, comment: "Release", text: "Notes\n" };
  const { id } = writeTechnote(repository, { ...fixture.author(), ...note, tags: ["news"] });
  writeTechnote(repository, { ...fixture.author(), ...note, id, text: "Better notes\n" });
  assert.equal(fixture.fossil("wiki", "export", "--technote", id), "Better notes\n");
  const root = writeForumPost(repository, {
    ...fixture.author(),
    place: { title: "Q" },
    text: "?",
  });
  const inReplyTo = writeForumPost(repository, {
    ...fixture.author(),
    place: { inReplyTo: root },
    text: "!",
  });
  const edit = { place: { edits: inReplyTo }, text: "!!" };
  writeForumPost(repository, { ...fixture.author(), ...edit });
  refuses("conflict", () => writeForumPost(repository, { ...fixture.author(), ...edit }));
  assert.match(scratch.fossil(["timeline", "-t", "f", "-R", fixture.path]), /Edit reply: Q/);
  fixture.assertSound();
});

judged("links in wiki pages are those that fossil finds", (program) => {
  using fixture = new Fixture(program);
  const pages = [
    "[HASH] [HASH|label] [/info/HASH] [ HASH ] <nowiki>[HASH]</nowiki> [HASH",
    "<verbatim>[HASH]</verbatim> <b>[HASH]</b> <a href='[HASH]'>x</a> <odd [HASH]> & [HASH  |x]",
    '[a](HASH) [b](/info/HASH "t") [c](<HASH>) ![d](HASH) \\[e](HASH) `[f](HASH)` [HASH]',
    "[a][r] [r] [b][] [c][s]\n\n[r]: HASH\n[b]: <HASH> 'title'\n",
    "    [code](HASH)\n\n> [quote](HASH)\nlazy [l](HASH)\n\n* [item](HASH)\n\n    [inner](HASH)\n",
    "```\n[fence](HASH)\n```\n\n# [head](HASH)\n\n| [a](HASH) | b |\n|-|-|\n| c | [d](HASH) |\n",
    "[^1] (^note [n](HASH)) [span](^[m](HASH))\n\n[^1]: foot [f](HASH)\n  and [g](HASH)\n[^2]: [h](HASH)\n",
    "<pre>\n[p](HASH)\n</pre>\n\n<b>[q](HASH)</b> **[s](HASH)** <!-- [c](HASH) -->",
  ];
  let serial = 0;
  for (const [i, page] of pages.entries()) {
    const text = page.replaceAll("HASH", () => (0xabc000 + serial++).toString(16));
    for (const mimetype of ["text/x-fossil-wiki", "text/x-markdown", "text/plain"]) {
      const title = `${i} ${mimetype}`;
      writeWiki(fixture.repository, { ...fixture.author(), title, text, mimetype });
    }
  }
  fixture.assertSound();
});

judged("tickets of a custom schema are those that fossil makes", (program) => {
  using fixture = new Fixture(program);
  const { repository } = fixture;
  const schema = `-- our own; with a comment
      CREATE TABLE ticket(tkt_id INTEGER PRIMARY KEY, tkt_uuid TEXT UNIQUE, tkt_mtime DATE,
        title TEXT, status TEXT, both TEXT, mimetype TEXT, "baseline for title" INTEGER);
      CREATE TABLE ticketchng(tkt_id INTEGER, tkt_mtime DATE, both TEXT, remark TEXT DEFAULT 'x;y');
      CREATE INDEX ticketchng_i ON ticketchng(tkt_id);`;
  repository.write(
    { user: "alice", ip: null },
    () => repository.config.set("ticket-table", schema),
  );
  repository.rebuild();
  const field = (name: string, value: string, append = false) => ({ name, value, append });
  const all = [field("title", "[abcd1234]"), field("both", "one"), field("remark", "[abcd5678]")];
  const { ticket } = writeTicketChange(repository, { ...fixture.author(), fields: all });
  const more = [field("both", " two", true), field("mimetype", "text/x-markdown")];
  writeTicketChange(repository, { ...fixture.author(), ticket, fields: more });
  const last = [field("title", "[x](abcd9999)", true), field("status", "Done")];
  writeTicketChange(repository, { ...fixture.author(), ticket, fields: last });
  const unknown = { ...fixture.author(), ticket, fields: [field("severity", "high")] };
  refuses("invalid", () => writeTicketChange(repository, unknown));
  repository.checkpoint();
  const copy = fixture.scratch.path("copy.fossil");
  Deno.copyFileSync(fixture.path, copy);
  fixture.scratch.fossil(["rebuild", copy]);
  assert.deepEqual(difference(dumpTables(fixture.path), dumpTables(copy)), []);
});

Deno.test("documents refuse a version that is not based on the latest", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const page = { title: "T", text: "x" };
  const first = writeWiki(repository, { ...fixture.author(), ...page, basedOn: null });
  refuses("conflict", () => writeWiki(repository, { ...fixture.author(), ...page, basedOn: null }));
  writeWiki(repository, { ...fixture.author(), ...page, basedOn: first });
  refuses(
    "conflict",
    () => writeWiki(repository, { ...fixture.author(), ...page, basedOn: first }),
  );
  const stale = { ...fixture.author(), date: History.start, title: "T", text: "newest" };
  writeWiki(repository, stale);
  const newest = repository.artifact(
    repository.db.value<number>(
      "SELECT rid FROM tagxref JOIN tag USING(tagid) WHERE tagname='wiki-T' ORDER BY mtime DESC",
    ) ?? 0,
  );
  assert.equal(newest?.kind === "wiki" && newest.text, "newest");
  const nowhere = { ...fixture.author(), target: "nowhere", name: "f", content: new Uint8Array(1) };
  refuses("missing", () => writeAttachment(repository, nowhere));
});

Deno.test("an attachment that is an artifact is packed, so that it has no effect", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const target = fixture.commit([put("a", "a")]);
  writeWiki(repository, { ...fixture.author(), title: "T", text: "x" });
  const tags = [{ sign: "+", name: "closed", target, value: null }] as const;
  const content = formatArtifact({ kind: "control", date: 0, tags, user: "mallory" });
  writeAttachment(repository, { ...fixture.author(), target: "T", name: "evil", content });
  assert.equal(repository.db.value("SELECT count(*) FROM tagxref WHERE tagid=9"), 0);
  assert.equal(repository.db.value("SELECT filename FROM attachment"), "evil.gz");
});
