import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import {
  amendCheckin,
  encodeUtf8,
  FossilError,
  type NewForumPost,
  Reader,
  Repository,
  SearchIndex,
  searchIndexPath,
  type SearchKind,
  type SearchMatch,
  writeBranch,
  writeForumPost,
  writeTechnote,
  writeTicketChange,
  writeWiki,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";
import { anyCharacter } from "../../../support/any_character.ts";

/** A repository with an index beside it. */
class Searched implements Disposable {
  readonly fixture = new Fixture();
  readonly reader = new Reader(this.fixture.repository);
  readonly path = searchIndexPath(this.fixture.path);
  readonly index = SearchIndex.open(this.path, this.reader);

  /** What a query finds, in a word each. */
  find(query: string, ...kinds: SearchKind[]): string[] {
    const options = kinds.length === 0 ? { query } : { query, kinds };
    return this.index.search(options).matches.map(label).sort();
  }

  ticket(values: Record<string, string>, ticket?: string): string {
    const fields = Object.entries(values).map(([name, value]) => ({ name, value, append: false }));
    const known = ticket === undefined ? {} : { ticket };
    return writeTicketChange(this.fixture.repository, {
      ...this.fixture.author(),
      ...known,
      fields,
    }).ticket;
  }

  wiki(title: string, text: string): void {
    writeWiki(this.fixture.repository, { ...this.fixture.author(), title, text });
  }

  [Symbol.dispose](): void {
    this.index.close();
    this.fixture[Symbol.dispose]();
  }
}

function label(match: SearchMatch): string {
  switch (match.kind) {
    case "checkin":
      return `checkin ${match.comment}`;
    case "ticket":
      return `ticket ${match.title}`;
    case "wiki":
      return `wiki ${match.name}`;
    case "technote":
      return `technote ${match.comment}`;
    case "forum":
      return `forum ${match.title}`;
    case "code":
      return `${match.path}:${match.line}`;
  }
}

Deno.test("check-ins, tickets, wiki pages and code are found, with the positions of the words", () => {
  using searched = new Searched();
  const { fixture, index } = searched;
  fixture.commit([put("src/a.ts", "first\n  let heron = 1;\n")], { comment: "A heron lands" });
  const ticket = searched.ticket({ title: "Heron lost", status: "Open", comment: "where?" });
  searched.ticket({ icomment: "The HERON is by the lake" }, ticket);
  searched.wiki("Birds", "The grey hérons of the lake. One heron.");
  assert.deepEqual(searched.find("heron"), [
    "checkin A heron lands",
    "src/a.ts:2",
    "ticket Heron lost",
    "wiki Birds",
  ]);
  assert.deepEqual(searched.find("heron lake"), ["ticket Heron lost", "wiki Birds"]);
  assert.deepEqual(searched.find('"the lake"', "ticket"), ["ticket Heron lost"]);
  assert.deepEqual(searched.find("her* -lake", "checkin", "wiki"), ["checkin A heron lands"]);
  assert.deepEqual(searched.find("herons"), ["wiki Birds"]);
  assert.deepEqual(searched.find("-heron"), []);
  assert.deepEqual(searched.find("heron", ...[] as SearchKind[]).length, 4);
  for (const { snippet, highlights } of index.search({ query: "heron" }).matches) {
    assert.ok(highlights.length > 0);
    for (const [start, end] of highlights) {
      assert.match(snippet.slice(start, end), /^h[eé]ron$/i);
    }
  }
  const page = index.search({ query: "heron", limit: 1, offset: 3 });
  assert.deepEqual([page.total, page.matches.length], [4, 1]);
  assert.deepEqual(index.search({ query: "heron", limit: 1, offset: 4 }).matches, []);
  assert.deepEqual(index.search({ query: "heron", kinds: [] }).matches, []);
});

Deno.test("the index follows writes", () => {
  using searched = new Searched();
  const { fixture } = searched;
  const { repository } = fixture;
  const checkin = fixture.commit([put("a", "osprey\n"), put("b", "gull\n")], { comment: "swift" });
  assert.deepEqual(searched.find("osprey"), ["a:1"]);
  amendCheckin(repository, { ...fixture.author(), checkin, comment: "martin" });
  assert.deepEqual([searched.find("swift"), searched.find("martin")], [[], ["checkin martin"]]);
  fixture.commit([
    put("b", "\n\nosprey\n"),
    { kind: "delete", path: "a" },
    put("c", "osprey"),
  ]);
  assert.deepEqual([searched.find("osprey"), searched.find("gull")], [["b:3", "c:1"], []]);
  const from = fixture.tip();
  const side = writeBranch(repository, { ...fixture.author(), from, name: "side" });
  fixture.commit([put("d", "osprey")], { parent: side });
  assert.deepEqual(searched.find("osprey"), ["b:3", "c:1"]);
  const ticket = searched.ticket({ title: "heron" });
  assert.deepEqual(searched.find("heron"), ["ticket heron"]);
  searched.ticket({ title: "stork" }, ticket);
  assert.deepEqual([searched.find("heron"), searched.find("stork")], [[], ["ticket stork"]]);
  searched.wiki("Page", "crane");
  assert.deepEqual(searched.find("crane"), ["wiki Page"]);
  searched.wiki("Page", "rail");
  assert.deepEqual([searched.find("crane"), searched.find("rail")], [[], ["wiki Page"]]);
  searched.wiki("Page", "");
  assert.deepEqual(searched.find("rail"), []);
});

Deno.test("technotes and forum posts are found at their latest versions", () => {
  using searched = new Searched();
  const { fixture, reader } = searched;
  const { repository } = fixture;
  const post = (place: NewForumPost["place"], text: string) =>
    writeForumPost(repository, { ...fixture.author(), place, text });
  const note = { eventDate: 0, comment: "Migration" };
  const first = { ...fixture.author(), ...note, text: "plover" };
  const { id } = writeTechnote(repository, first);
  const root = post({ title: "Where are they?" }, "a dunlin");
  const answer = post({ inReplyTo: root }, "a dunlin and a knot");
  assert.deepEqual(searched.find("plover"), ["technote Migration"]);
  assert.deepEqual(searched.find("dunlin"), ["forum Where are they?", "forum Where are they?"]);
  writeTechnote(repository, { ...fixture.author(), ...note, id, text: "avocet" });
  const edited = post({ edits: answer }, "only a knot");
  post({ edits: root, title: "Where were they?" }, "a dunlin");
  assert.deepEqual([searched.find("plover"), searched.find("avocet")], [[], [
    "technote Migration",
  ]]);
  assert.deepEqual(searched.find("dunlin"), ["forum Where were they?"]);
  assert.deepEqual(searched.find("knot", "forum"), ["forum Where were they?"]);
  const known = ["avocet", "dunlin", "knot", "migration", "where"].map((word) =>
    searched.find(word)
  );
  using anew = SearchIndex.open(`${searched.path}.2`, reader);
  const found = ["avocet", "dunlin", "knot", "migration", "where"].map((query) =>
    anew.search({ query }).matches.map(label).sort()
  );
  assert.deepEqual(known, found);
  post({ edits: edited }, "");
  assert.deepEqual(searched.find("knot"), []);
});

Deno.test("an incremental index finds the same as a new one", () => {
  using scratch = new Scratch();
  const path = scratch.path("random.fossil");
  using repository = Repository.create(path, { admin: "alice", date: History.start });
  const reader = new Reader(repository);
  using grown = SearchIndex.open(scratch.path("grown.index"), reader);
  const history = new History(repository, 7);
  for (let i = 0; i < 4; i++) {
    history.run(20);
    grown.update();
  }
  using made = SearchIndex.open(scratch.path("made.index"), reader);
  for (const query of ["line", "changed", "see", "plain", "commit", "branch", "merge", "file*"]) {
    const all = (index: SearchIndex) => {
      const { matches, total } = index.search({ query, limit: 100 });
      return {
        total,
        matches: total > 100 ? [] : matches.map((match) => JSON.stringify(match)).sort(),
      };
    };
    assert.deepEqual(all(grown), all(made), query);
  }
});

Deno.test("what a rebuild deleted because it is shunned is found no more", () => {
  using searched = new Searched();
  const { repository } = searched.fixture;
  const shunned = searched.fixture.commit([], { comment: "a secret", allowEmpty: true });
  searched.wiki("Page", "text");
  assert.equal(searched.index.search({ query: "secret" }).total, 1);
  repository.write({ user: "alice", ip: null }, () => repository.shun(shunned));
  repository.rebuild();
  assert.equal(searched.index.search({ query: "secret" }).total, 0);
});

Deno.test("content that arrives after its name is indexed on arrival", () => {
  using searched = new Searched();
  using source = new Fixture();
  const hash = source.commit([put("a", "a")], { parent: null, comment: "a late albatross" });
  const { store } = source.repository;
  const content = store.require(store.ridOf(hash)).slice();
  const { repository } = searched.fixture;
  const receive = (work: () => void) => repository.write({ user: null, ip: null }, work);
  receive(() => repository.store.ridOrPhantom(hash));
  assert.deepEqual(searched.find("albatross"), []);
  receive(() => repository.receive(content, { hash }));
  assert.deepEqual(searched.find("albatross"), ["checkin a late albatross"]);
});

Deno.test("an index that is damaged, old or another repository's is rebuilt", () => {
  using fixture = new Fixture();
  using other = new Fixture();
  fixture.commit([put("a", "osprey")], { comment: "osprey" });
  other.commit([put("b", "osprey")], { comment: "another osprey" });
  const path = searchIndexPath(fixture.path);
  const find = (repository: Repository) => {
    using index = SearchIndex.open(path, new Reader(repository));
    return index.search({ query: "osprey" }).matches.map(label).sort();
  };
  const expected = ["a:1", "checkin osprey"];
  assert.deepEqual(find(fixture.repository), expected);
  assert.deepEqual(find(other.repository), ["b:1", "checkin another osprey"]);
  assert.deepEqual(find(fixture.repository), expected);
  const sound = Deno.readFileSync(path);
  const damaged = sound.slice().fill(0xa5, 4096);
  for (const bytes of [new Uint8Array(0), new Uint8Array(5000).fill(0x61), damaged]) {
    Deno.writeFileSync(path, bytes);
    assert.deepEqual(find(fixture.repository), expected);
  }
  Deno.removeSync(path);
  assert.deepEqual(find(fixture.repository), expected);
});

Deno.test("a search does not wait for a long update of the index, and says what that means", () => {
  using searched = new Searched();
  const files = Array.from({ length: 2001 }, (_, number) => put(`file${number}`, "osprey"));
  searched.fixture.commit(files);
  const search = () => {
    const { total, is_complete } = searched.index.search({ query: "osprey" });
    return { total, is_complete };
  };
  assert.deepEqual(search(), { total: 0, is_complete: false });
  searched.index.update();
  assert.deepEqual(search(), { total: 2001, is_complete: true });

  using other = new DatabaseSync(searched.path);
  other.exec("BEGIN IMMEDIATE");
  searched.fixture.commit([put("another", "osprey")]);
  assert.deepEqual(search(), { total: 2001, is_complete: false });
  other.exec("ROLLBACK");
  assert.deepEqual(search(), { total: 2002, is_complete: true });
});

Deno.test("binary and large files are skipped", () => {
  using searched = new Searched();
  using small = SearchIndex.open(`${searched.path}2`, searched.reader, { maxFileBytes: 100 });
  searched.fixture.commit([
    put("large", `osprey${" ".repeat(200)}`),
    put("small", "osprey"),
    { kind: "write", path: "binary", content: encodeUtf8("osprey\0") },
    put("link", "osprey", "link"),
  ]);
  assert.deepEqual(small.search({ query: "osprey" }).matches.map(label), ["small:1"]);
  assert.deepEqual(searched.find("osprey"), ["large:1", "small:1"]);
});

Deno.test("no query causes an error of SQLite", () => {
  using searched = new Searched();
  searched.fixture.commit([put("a", "AND OR NOT NEAR a:b (c) ^d {e} +f")]);
  const word = fc.constantFrom(
    '"',
    "*",
    "-",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    ")",
    ":",
    "^",
    "a",
    "\0",
  );
  const query = fc.oneof(
    fc.string(),
    fc.string({ unit: anyCharacter }),
    fc.array(word).map((words) => words.join(" ")),
    fc.array(word).map((words) => words.join("")),
  );
  fc.assert(
    fc.property(query, (text) => {
      try {
        searched.index.search({ query: text });
      } catch (error) {
        assert.ok(error instanceof FossilError && error.code === "invalid");
      }
    }),
    { numRuns: 500 },
  );
  refuses("invalid", () => searched.index.search({ query: "a".repeat(2000) }));
  refuses("invalid", () => searched.index.search({ query: "a ".repeat(100) }));
  assert.deepEqual(searched.find("AND"), ["a:1"]);
});
