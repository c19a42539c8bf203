import assert from "node:assert/strict";
import {
  encodeUtf8,
  listAttachments,
  listBranches,
  listForumThreads,
  listTags,
  listTechnotes,
  listTickets,
  listWikiPages,
  type NewForumPost,
  readActivity,
  readArchive,
  readAttachment,
  Reader,
  readFile,
  readForumThread,
  readTechnote,
  readTicket,
  readTimeline,
  readTree,
  readWikiHistory,
  readWikiPage,
  writeAttachment,
  writeForumPost,
  writeTechnote,
  writeTicketChange,
  writeWiki,
} from "../../../../services/engines/fossil/mod.ts";
import { peer } from "../../../support/peers.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";

Deno.test("wiki pages are read at their latest and at older versions", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const page = (title: string, text: string) =>
    writeWiki(repository, { ...fixture.author("bob"), title, text, mimetype: "text/x-markdown" });
  const first = page("Home ü", "# One ü");
  const second = page("Home ü", "# Two");
  page("Gone", "text");
  page("Gone", "");
  assert.deepEqual(listWikiPages(reader).map(({ name, uuid }) => [name, uuid]), [
    ["Home ü", second],
  ]);
  assert.deepEqual(listWikiPages(reader, { deleted: true }).map(({ name }) => name), [
    "Gone",
    "Home ü",
  ]);
  const read = readWikiPage(reader, "Home ü");
  assert.deepEqual([read.content, read.mimetype, read.user], ["# Two", "text/x-markdown", "bob"]);
  assert.equal(readWikiPage(reader, "Home ü", first).content, "# One ü");
  assert.deepEqual(readWikiHistory(reader, "Home ü").map(({ uuid, size }) => [uuid, size]), [
    [second, 5],
    [first, 8],
  ]);
  refuses("missing", () => readWikiPage(reader, "Gone"));
  refuses("missing", () => readWikiPage(reader, "Never"));
  refuses("missing", () => readWikiPage(reader, "Home ü", "0".repeat(64)));
});

Deno.test("texts from elsewhere beyond the bounds of a push are shown cut, in one line", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const [title, name] = [`two\nlines ${"\u{1f600}".repeat(5000)}`, "n".repeat(5000)];
  const fields = Object.entries({ title, status: name, type: name })
    .map(([name, value]) => ({ name, value, append: false }));
  const { ticket } = writeTicketChange(repository, { ...fixture.author(name), fields });
  assert.equal(listTickets(reader).statuses[0]?.name.length, 200);
  const read = readTicket(reader, ticket);
  for (const shown of [...listTickets(reader).tickets, read]) {
    assert.match(shown.title, /^two lines \u{1f600}{244}…$/u);
    assert.deepEqual([shown.status.length, shown.type.length], [200, 200]);
  }
  assert.deepEqual([read.fields["title"], read.changes[0]?.user.length], [title, 200]);
  const author = { ...fixture.author(name), mimetype: "text/plain" };
  writeWiki(repository, { ...author, title: "Home", text: "text" });
  writeForumPost(repository, { ...author, place: { title: "t".repeat(5000) }, text: "post" });
  const [[page], { threads: [thread] }] = [listWikiPages(reader), listForumThreads(reader)];
  assert.deepEqual([page?.user.length, thread?.user.length, thread?.title.length], [200, 200, 200]);
});

Deno.test("of very many statuses, lists of tickets count the most frequent ones", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const statuses = Array.from({ length: 110 }, (_, index) => `S${index}`).concat("S109", "S109");
  for (const value of statuses) {
    const fields = [{ name: "status", value, append: false }];
    writeTicketChange(repository, { ...fixture.author("bob"), fields });
  }
  const { statuses: counted, total } = listTickets(new Reader(repository));
  assert.deepEqual([total, counted.length], [112, 100]);
  assert.deepEqual(counted[0], { name: "S109", count: 3, is_closed: false });
});

Deno.test("names of tags and branches from elsewhere are shown cut in lists", () => {
  using fixture = new Fixture();
  const [tag, branch] = ["t".repeat(5000), "z".repeat(5000)];
  fixture.commit([put("a", "a")], { tags: [tag] });
  fixture.commit([put("a", "b")], { branch });
  const reader = new Reader(fixture.repository);
  const { checkins } = readTimeline(reader);
  const shown = checkins.flatMap((checkin) => [checkin.branch, ...checkin.tags]);
  const names = [...shown, ...listTags(reader).map(({ name }) => name)];
  assert.equal(names.filter((name) => name === `${"t".repeat(199)}…`).length, 2);
  assert.equal(names.filter((name) => name === `${"z".repeat(199)}…`).length, 1);
  assert.ok(names.every((name) => name.length <= 200));
  // Those who look for a branch by its name get it whole.
  assert.ok(listBranches(reader).some(({ name }) => name === branch));
});

Deno.test("a name that shows nothing is refused, for a branch as for a tag", () => {
  using fixture = new Fixture();
  for (const name of ["\u200d", "\u3164", "a\u202eb"]) {
    refuses("invalid", () => fixture.commit([put("a", name)], { tags: [name] }));
    refuses("invalid", () => fixture.commit([put("a", name)], { branch: name }));
  }
});

Deno.test("tickets are listed newest first and read with comments and changes", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const change = (user: string, values: Record<string, string>, ticket?: string) => {
    const fields = Object.entries(values).map(([name, value]) => ({ name, value, append: false }));
    const known = ticket === undefined ? {} : { ticket };
    return writeTicketChange(repository, { ...fixture.author(user), ...known, fields }).ticket;
  };
  const ids = Array.from(
    { length: 5 },
    (_, i) => change("alice", { title: `T${i}`, status: i < 3 ? "Open" : "Fixed", comment: "why" }),
  );
  change("bob", { icomment: "I saw it", mimetype: "text/x-markdown" }, ids[0]);
  change("carol", { status: "Closed", icomment: "done" }, ids[0]);
  const open = listTickets(reader, { status: "Open", limit: 1 });
  assert.deepEqual([open.total, open.tickets.map(({ title }) => title)], [2, ["T2"]]);
  assert.deepEqual(
    listTickets(reader, { limit: 2, offset: 3 }).tickets.map(({ uuid }) => uuid),
    [ids[1], ids[0]],
  );
  const ticket = readTicket(reader, ids[0]!.slice(0, 12));
  assert.deepEqual([ticket.uuid, ticket.status, ticket.body], [ids[0], "Closed", "why"]);
  assert.deepEqual(
    ticket.comments.map(({ user, comment, mimetype }) => [user, comment, mimetype]),
    [["bob", "I saw it", "text/x-markdown"], ["carol", "done", "text/plain"]],
  );
  assert.deepEqual(ticket.changes.map(({ user }) => user), ["alice", "bob", "carol"]);
  refuses("missing", () => readTicket(reader, "abc"));
  refuses("missing", () => readTicket(reader, "0".repeat(40)));
});

Deno.test("technotes are read at their latest and at older versions", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const day = Date.UTC(2026, 5, 6);
  const note = { eventDate: day, comment: "Release", mimetype: "text/plain", tags: ["news"] };
  const one = writeTechnote(repository, { ...fixture.author("bob"), ...note, text: "One" });
  const two = writeTechnote(repository, { ...fixture.author(), ...note, id: one.id, text: "Two" });
  const older = { ...fixture.author(), eventDate: day - 1000, comment: "Older", text: "" };
  const other = writeTechnote(repository, older);
  const { technotes, total } = listTechnotes(reader, { limit: 1 });
  assert.deepEqual([total, technotes.map(({ uuid }) => uuid)], [2, [two.hash]]);
  const read = readTechnote(reader, one.id.slice(0, 10));
  assert.deepEqual([read.content, read.user, read.tags], ["Two", "alice", ["news"]]);
  assert.equal(read.timestamp, "2026-06-06T00:00:00.000Z");
  assert.deepEqual(read.versions.map(({ uuid, user }) => [uuid, user]), [
    [two.hash, "alice"],
    [one.hash, "bob"],
  ]);
  assert.equal(readTechnote(reader, one.id, one.hash).content, "One");
  refuses("missing", () => readTechnote(reader, one.id, other.hash));
  refuses("missing", () => readTechnote(reader, "0000000000"));
});

Deno.test("threads of the forum are read with each post at its latest version", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  assert.deepEqual(listForumThreads(reader), { threads: [], total: 0 });
  const post = (user: string, place: NewForumPost["place"], text: string) =>
    writeForumPost(repository, { ...fixture.author(user), place, text });
  const root = post("alice", { title: "Question" }, "Why?");
  const answer = post("bob", { inReplyTo: root }, "Becuase");
  const edited = post("bob", { edits: answer }, "Because");
  const thanks = post("alice", { inReplyTo: edited }, "Thanks");
  const gone = post("mallory", { inReplyTo: root }, "spam");
  post("alice", { edits: gone }, "");
  post("alice", { edits: root, title: "A question" }, "Why, please?");
  const other = post("carl", { title: "Other" }, "text");
  const { threads, total } = listForumThreads(reader);
  assert.deepEqual(
    threads.map(({ uuid, title, user, post_count }) => [
      uuid,
      title,
      user,
      post_count,
    ]),
    [[other, "Other", "carl", 1], [root, "A question", "alice", 4]],
  );
  assert.equal(total, 2);
  const thread = readForumThread(reader, edited);
  assert.deepEqual(
    thread.posts.map(({ uuid, user, in_reply_to, content, version_count, is_deleted }) => [
      uuid,
      user,
      in_reply_to,
      content,
      version_count,
      is_deleted,
    ]),
    [
      [root, "alice", null, "Why, please?", 2, false],
      [answer, "bob", root, "Because", 2, false],
      [thanks, "alice", answer, "Thanks", 1, false],
      [gone, "mallory", root, "", 2, true],
    ],
  );
  refuses("missing", () => readForumThread(reader, fixture.tip()));
  refuses("missing", () => readForumThread(reader, "x"));
});

Deno.test("attachments are listed and read, the latest of each name", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  writeWiki(repository, { ...fixture.author(), title: "Home", text: "t" });
  const attach = (name: string, text: string | null) =>
    writeAttachment(repository, {
      ...fixture.author("bob"),
      target: "Home",
      name,
      content: text === null ? null : encodeUtf8(text),
      comment: "see",
    });
  attach("log", "old");
  const log = attach("log", "new log");
  attach("gone", "x");
  attach("gone", null);
  assert.deepEqual(
    listAttachments(reader, "Home").map(({ uuid, name, size, user, comment }) => [
      uuid,
      name,
      size,
      user,
      comment,
    ]),
    [[log, "log", 7, "bob", "see"]],
  );
  const { content, is_binary } = readAttachment(reader, { target: "Home", name: "log" });
  assert.deepEqual([content, is_binary], [encodeUtf8("new log"), false]);
  refuses("missing", () => readAttachment(reader, { target: "Home", name: "gone" }));
  assert.deepEqual(listAttachments(reader, "None"), []);
});

Deno.test("activity has events of every kind, and counts the filtered ones", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const checkin = fixture.commit([put("a", "a")]);
  writeWiki(repository, { ...fixture.author(), title: "T", text: "x" });
  const note = { eventDate: fixture.author().date, comment: "Note", text: "n" };
  writeTechnote(repository, { ...fixture.author("bob"), ...note });
  writeForumPost(repository, { ...fixture.author(), place: { title: "Q" }, text: "?" });
  const fields = [{ name: "title", value: "T", append: false }];
  writeTicketChange(repository, { ...fixture.author(), fields });
  const reader = new Reader(repository);
  const { events, total } = readActivity(reader);
  assert.equal(total, 6);
  assert.deepEqual(events.map(({ kind }) => kind), [
    "ticket",
    "forum",
    "technote",
    "wiki",
    "checkin",
    "checkin",
  ]);
  const some = readActivity(reader, { kinds: ["checkin", "technote"], limit: 1, after: checkin });
  assert.deepEqual([some.total, some.events.map(({ user }) => user)], [1, ["bob"]]);
  assert.equal(readActivity(reader, { kinds: [] }).total, 0);
  // As the program makes it when the first artifact waits for a moderator.
  repository.db.exec(`CREATE TABLE modreq(objid INTEGER PRIMARY KEY, attachRid INT, tktid TEXT);
    INSERT INTO modreq(objid) SELECT objid FROM event WHERE type='w'`);
  const waiting = readActivity(reader).events.filter((event) => event.awaits_approval);
  assert.deepEqual(waiting.map(({ kind }) => kind), ["wiki"]);
});

/** A tree with every kind of file. */
function treeFixture(): Fixture {
  const fixture = new Fixture();
  const long = `${"folder/".repeat(30)}ü 😀 ${"x".repeat(120)}`;
  const random = crypto.getRandomValues(new Uint8Array(60_000));
  const big = new Uint8Array(1_200_000).map((_, i) => random[i % 60_000]! ^ (i >> 16));
  fixture.commit([
    put("plain.txt", "text\n"),
    put("bin/run", "#!/bin/sh\n", "executable"),
    put("link", "plain.txt", "link"),
    put("empty", ""),
    put(long, "deep"),
    { kind: "write", path: "big", content: big },
  ]);
  return fixture;
}

function pack(fixture: Fixture, format: "zip" | "tar.gz"): Uint8Array {
  const chunks = [...readArchive(new Reader(fixture.repository), { format, folder: "top" })];
  const packed = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    packed.set(chunk, at);
    at += chunk.length;
  }
  return packed;
}

/** Unpacks an archive with another program, and compares every file with the repository's. */
function assertUnpacks(format: "zip" | "tar.gz", command: (archive: string) => string[]): void {
  using fixture = treeFixture();
  const { scratch, repository } = fixture;
  const packed = pack(fixture, format);
  assert.deepEqual(pack(fixture, format), packed);
  const [program, ...args] = command(scratch.write(`a.${format}`, packed));
  Deno.mkdirSync(scratch.path("out"));
  const options = { args, cwd: scratch.path("out"), env: { TZ: "UTC", LC_ALL: "C.UTF-8" } };
  const run = new Deno.Command(program!, options).outputSync();
  assert.ok(run.success, new TextDecoder().decode(run.stderr));
  const reader = new Reader(repository);
  const { entries } = readTree(reader, { recursive: true });
  for (const { name, executable, type, last_checkin } of entries) {
    const path = scratch.path(`out/top/${name}`);
    const stat = Deno.lstatSync(path);
    const { content } = readFile(reader, { path: name });
    if (type === "link") {
      assert.equal(Deno.readLinkSync(path), new TextDecoder().decode(content));
      continue;
    }
    assert.deepEqual(Deno.readFileSync(path), new Uint8Array(content));
    assert.equal((stat.mode! & 0o111) !== 0, executable);
    const seconds = Math.floor(Date.parse(last_checkin!.timestamp) / 1000);
    assert.equal(stat.mtime!.getTime() / 1000, seconds);
  }
}

Deno.test({
  name: "a zip archive unpacks to the tree, the same bytes each time",
  ...peer("unzip"),
  fn: () => assertUnpacks("zip", (archive) => ["unzip", "-q", archive]),
});

Deno.test({
  name: "a tar.gz archive unpacks to the tree, the same bytes each time",
  ...peer("tar"),
  fn: () => assertUnpacks("tar.gz", (archive) => ["tar", "-xzf", archive]),
});

Deno.test("an archive is read while others write, and refuses folders outside", () => {
  using fixture = treeFixture();
  const reader = new Reader(fixture.repository);
  const chunks = readArchive(reader, { format: "zip" });
  const first = chunks.next();
  assert.ok(!first.done);
  fixture.commit([put("later", "x")]);
  assert.ok([...chunks].length > 10);
  for (const folder of ["/etc", "../up", "a/../../b"]) {
    refuses("invalid", () => readArchive(reader, { format: "zip", folder }));
  }
});
