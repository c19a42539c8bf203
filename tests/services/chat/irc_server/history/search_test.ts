import assert from "node:assert/strict";
import fc from "fast-check";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { HistoryTarget } from "../../../../../services/engines/irc/mod.ts";
import { ArchiveFile } from "../../../../../services/chat/irc_server/history/archive_file.ts";
import type {
  FoundRecords,
  RecordSearch,
} from "../../../../../services/chat/irc_server/history/protocol.ts";
import { withFolder } from "../../../../support/temporary.ts";
import { THOROUGH } from "../../../../support/level.ts";
import type { Operation } from "../../../../../services/chat/irc_server/history/changes.ts";

const SPEAKER_TAG = "+muster/nick";
const SEGMENT = 8;

interface Said {
  readonly channel: string;
  readonly nick: string;
  readonly text: string;
  readonly relayedFor: string | null;
  readonly isAction: boolean;
  readonly isConfined: boolean;
  /** How many messages of the same millisecond precede it at most. */
  readonly isSameTime: boolean;
}

const TEXTS = [
  ..."the cat sat on a mat|see services/engines/fossil/index.ts|Straße und Ähre|ΟΔΟΣ ς".split("|"),
  ...'K\u212Aelvin İst|100% of_it \\ "quoted"|日本語を話す|🦊 fox|a\tb\x02bold\x02|x'.split("|"),
  ..."Cathedral|concatenate|CAT|[ann] said|ann|k|the|日本".split("|"),
];
const SOUGHT = [
  ...'cat|at|a|the|mat|concat|zzz|s/f|straße|ähre|ς|σ|οδος|k|kelvin|i|%|_|100%|\\|"|"q'.split("|"),
  ..."日本|語|本語を|🦊|\tb|\x02|bold|[ann]|ann|*|fox 🦊|cat the|from:ann|from:ANN cat".split("|"),
  ..."from:bridge|from:bob the|from:carol from:bob|* bob|from:carol".split("|"),
];

const channels = fc.constantFrom("#a", "#b");
const said: fc.Arbitrary<Said> = fc.record({
  channel: fc.constantFrom("#a", "#a", "#a", "#b"),
  nick: fc.constantFrom("ann", "Bob"),
  text: fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 12, unit: "grapheme" })),
  relayedFor: fc.option(fc.constantFrom("ann", "Carol"), { freq: 4 }),
  isAction: fc.boolean(),
  isConfined: fc.constantFrom(false, false, true),
  isSameTime: fc.boolean(),
});

type Step =
  | { readonly say: Said }
  | { readonly redact: number }
  | { readonly confine: string }
  | { readonly forgetConfined: string }
  | { readonly rename: readonly [string, string] }
  | { readonly keep: number }
  | { readonly index: number }
  | { readonly reopen: true }
  | { readonly seek: string };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ say: said }) },
  fc.record({ redact: fc.nat(200) }),
  fc.record({ confine: channels }),
  fc.record({ forgetConfined: channels }),
  fc.record({ rename: fc.tuple(channels, channels) }),
  fc.record({ keep: fc.integer({ min: 5, max: 60 }) }),
  { weight: 5, arbitrary: fc.record({ index: fc.integer({ min: 1, max: 9 }) }) },
  fc.record({ reopen: fc.constant(true as const) }),
  { weight: 5, arbitrary: fc.record({ seek: fc.constantFrom(...SOUGHT) }) },
);

function targetOf(name: string): HistoryTarget {
  return { account: null, name };
}

/** A log as a list, which is searched one message after the other. */
interface Kept {
  readonly sequence: number;
  readonly time: number;
  readonly id: string;
  channel: string;
  /** What is shown; null once it is redacted. */
  shown: { readonly nick: string; readonly text: string } | null;
  isConfined: boolean;
}

function shownOf({ nick, text, relayedFor, isAction }: Said): { nick: string; text: string } {
  if (relayedFor !== null) return { nick: relayedFor, text };
  return { nick, text: isAction ? `* ${nick} ${text}\x01` : text };
}

function contentOf({ channel, nick, text, relayedFor, isAction }: Said): string {
  const head = `:${relayedFor === null ? nick : "bridge"}!user@host PRIVMSG ${channel}`;
  if (relayedFor !== null) {
    const client = [[SPEAKER_TAG, relayedFor]];
    return JSON.stringify({ head, text: `[${relayedFor}] ${text}`, client });
  }
  return JSON.stringify({ head, text: isAction ? `\x01ACTION ${text}\x01` : text });
}

function soughtIn(query: string): RecordSearch["sought"] {
  const words = query.toLowerCase().split(" ");
  const isSpeaker = (word: string) => word.startsWith("from:");
  return {
    words: words.filter((word) => !isSpeaker(word)),
    speakers: words.filter(isSpeaker).map((word) => word.slice(5)),
  };
}

/** Everything that is found, in answers of a few messages; and every place where one stopped. */
function findAll(file: ArchiveFile, channel: string, query: string, limit: number): string[] {
  const found: string[] = [];
  let from: RecordSearch["from"] = null;
  do {
    const wanted = { sought: soughtIn(query), upTo: null, from, limit };
    const question = { kind: "search", target: targetOf(channel), wanted } as const;
    const { moments, reached } = file.answer(question) as FoundRecords;
    for (const { records, hits } of moments) {
      found.push(...hits.toReversed().map((hit) => records[hit]?.id ?? "none"));
    }
    from = reached;
  } while (from !== null);
  return found;
}

function findSlowly(log: readonly Kept[], channel: string, query: string): string[] {
  const { words, speakers } = soughtIn(query);
  return log.filter(({ channel: own, shown }) => {
    if (own !== channel || shown === null) return false;
    const { nick, text } = shown;
    return words.every((word) => text.toLowerCase().includes(word)) &&
      speakers.every((speaker) => speaker === nick.toLowerCase());
  }).map(({ id }) => id).reverse();
}

/** What a segment covers must be there: nothing that was removed is in the index. */
function assertCovered(path: string): void {
  using database = new DatabaseSync(path, { readOnly: true });
  const segments = database.prepare(
    `SELECT length(places) / 4 AS indexed, (SELECT count(*) FROM entries
       WHERE target = search_segments.target AND kind = 0 AND sequence BETWEEN first AND last
     ) AS kept FROM search_segments`,
  ).all();
  for (const { indexed, kept } of segments) assert.equal(indexed, kept);
  const { lost } = database.prepare(
    `SELECT count(*) AS lost FROM search_postings
     WHERE place / 2097152 NOT IN (SELECT id FROM search_segments)`,
  ).get() ?? {};
  assert.equal(lost, 0);
}

Deno.test(
  "the index finds what a reader of every message finds, whatever was removed",
  THOROUGH,
  () =>
    withFolder((folder) => {
      let run = 0;
      fc.assert(
        fc.property(fc.array(steps, { minLength: 20, maxLength: 150 }), (list) => {
          const path = join(folder, `${run++}.db`);
          let file = new ArchiveFile(path, SPEAKER_TAG, SEGMENT);
          let log: Kept[] = [];
          let [sequence, time] = [0, 1_700_000_000_000];
          const apply = (...operations: Operation[]) => file.write(operations);
          const steps: { [Kind in Step as keyof Kind]: (step: never) => void } = {
            say: ({ say }: { say: Said }) => {
              if (!say.isSameTime) time += 5;
              sequence++;
              const { channel, isConfined } = say;
              const id = `id-${sequence}`;
              log.push({ sequence, time, id, channel, shown: shownOf(say), isConfined });
              const target = targetOf(channel);
              const content = contentOf(say);
              const record = { target, title: channel, time, id, kind: 0, content } as const;
              apply({ kind: "append", sequence, record: { ...record, confined: isConfined } });
            },
            redact: ({ redact }: { redact: number }) => {
              const one = log[redact];
              if (one === undefined) return;
              one.shown = null;
              apply({ kind: "redact", sequence: ++sequence, id: one.id });
            },
            confine: ({ confine }: { confine: string }) => {
              for (const one of log) if (one.channel === confine) one.isConfined = true;
              apply({ kind: "confine", sequence: ++sequence, target: targetOf(confine) });
            },
            forgetConfined: ({ forgetConfined: name }: { forgetConfined: string }) => {
              log = log.filter(({ channel, isConfined }) => channel !== name || !isConfined);
              apply({ kind: "forgetConfined", sequence: ++sequence, target: targetOf(name) });
            },
            rename: ({ rename: [from, to] }: { rename: readonly [string, string] }) => {
              for (const one of log) if (one.channel === from) one.channel = to;
              apply({
                kind: "rename",
                sequence: ++sequence,
                from: targetOf(from),
                to: targetOf(to),
                title: to,
              });
            },
            keep: ({ keep }: { keep: number }) => {
              file.trim({ age: null, records: keep, bytes: null }, time, 1000);
              for (const name of ["#a", "#b"]) {
                const own = log.filter(({ channel }) => channel === name);
                const gone = new Set(own.slice(0, -keep));
                log = log.filter((one) => !gone.has(one));
              }
            },
            index: ({ index }: { index: number }) => {
              for (let count = 0; count < index && file.isIndexBehind; count++) file.indexMore();
            },
            reopen: () => {
              file.close();
              file = new ArchiveFile(path, SPEAKER_TAG, SEGMENT);
            },
            seek: ({ seek }: { seek: string }) => {
              const found = findAll(file, "#a", seek, 3);
              assert.deepEqual(found, findSlowly(log, "#a", seek), seek);
            },
          };
          for (const step of list) {
            const [kind = "index"] = Object.keys(step) as (keyof typeof steps)[];
            steps[kind](step as never);
            assertCovered(path);
          }
          for (const seek of SOUGHT) {
            for (const name of ["#a", "#b"]) {
              assert.deepEqual(findAll(file, name, seek, 50), findSlowly(log, name, seek), seek);
            }
          }
          file.close();
        }),
        { numRuns: 30 },
      );
      return Promise.resolve();
    }),
);

/** Messages that fill several segments. */
const MANY = 5000;

function manyAppends(): Operation[] {
  return Array.from({ length: MANY }, (_, index) => {
    const content = JSON.stringify({
      head: `:agent${index % 3}!user@host PRIVMSG #a`,
      text: index === 7 ? "the needle" : `message ${index} of many`,
    });
    const target = targetOf("#a");
    const record = { target, title: "#a", time: 1000 + index, id: `id-${index}`, content } as const;
    return {
      kind: "append",
      sequence: index + 1,
      record: { ...record, kind: 0, confined: false },
    };
  });
}

Deno.test(
  "a history from before the index is searched at once, and indexed in steps",
  THOROUGH,
  () =>
    withFolder((folder) => {
      const path = join(folder, "history.db");
      const before = new ArchiveFile(path);
      before.write(manyAppends());
      before.close();
      {
        using database = new DatabaseSync(path);
        for (const table of ["last_change", "search_postings", "search_segments"]) {
          database.exec(`DROP TABLE ${table}`);
        }
        database.exec("ALTER TABLE targets DROP COLUMN trimmed; PRAGMA user_version = 2");
      }
      const file = new ArchiveFile(path);
      const seek = () => {
        const every = findAll(file, "#a", "of many", 1000);
        assert.equal(every.length, MANY - 1);
        assert.deepEqual(every.slice(0, 2), [`id-${MANY - 1}`, `id-${MANY - 2}`]);
        assert.deepEqual(findAll(file, "#a", "needle", 50), ["id-7"]);
        assert.deepEqual(
          findAll(file, "#a", "from:agent1 7", 50),
          findAll(file, "#a", "7 from:AGENT1", 9),
        );
        assert.deepEqual(findAll(file, "#a", "nowhere", 50), []);
      };
      const indexed: unknown[] = [];
      seek();
      while (file.isIndexBehind) {
        file.indexMore();
        seek();
        using database = new DatabaseSync(path, { readOnly: true });
        const { count } =
          database.prepare("SELECT sum(length(places) / 4) AS count FROM search_segments").get() ??
            {};
        indexed.push(count);
      }
      assert.deepEqual(indexed.slice(0, 2), [2048, 4096]);
      file.close();
      return Promise.resolve();
    }),
);

Deno.test("an answer looks at a limited number of messages, and tells where it stopped", () =>
  withFolder((folder) => {
    const file = new ArchiveFile(join(folder, "history.db"));
    const long = "x".repeat(4000);
    const content = JSON.stringify({ head: ":ann!user@host PRIVMSG #a", text: `${long} any` });
    file.write(
      manyAppends().map((operation) => {
        if (operation.kind !== "append") return operation;
        return { ...operation, record: { ...operation.record, content } };
      }),
    );
    const target = targetOf("#a");
    const wanted = { sought: { words: ["any", "x"], speakers: ["bob"] }, upTo: null, limit: 50 };
    let from: RecordSearch["from"] = null;
    let answers = 0;
    do {
      const question = { kind: "search", target, wanted: { ...wanted, from } } as const;
      const { moments, reached } = file.answer(question) as FoundRecords;
      assert.deepEqual(moments, []);
      assert.ok(reached === null || from === null || reached.sequence < from.sequence);
      from = reached;
      answers++;
    } while (from !== null);
    assert.ok(answers > 3, `${answers} answers`);
    file.close();
    return Promise.resolve();
  }));
