/** Inputs that a push brings: every card of the protocol, every card of each artifact. */
import assert from "node:assert/strict";
import {
  type Artifact,
  type Card,
  formatArtifact,
  type Manifest,
  md5,
  sha3,
  TEXT_BOUNDS,
} from "../../../services/engines/fossil/mod.ts";
import { order, registerAgent } from "../../support/api.ts";
import { textAt } from "../../support/json.ts";
import { exchange, type SyncMessage, type SyncReply } from "../../support/sync_messages.ts";
import { ask, type Input, LONGEST, type Next, type Place, run } from "./walk.ts";

/** Longest line of a card, in bytes. */
const LINE = 60_000;

/** The cards of the protocol, with an example of their tokens. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  login: ["pusher", "a".repeat(40), "a".repeat(40)],
  push: ["a".repeat(40), "a".repeat(40)],
  pull: ["a".repeat(40), "a".repeat(40)],
  clone: ["3", "1"],
  clone_seqno: ["1"],
  file: ["a".repeat(40), "a".repeat(40), "0"],
  cfile: ["a".repeat(40), "a".repeat(40), "0", "0"],
  private: [],
  igot: ["a".repeat(40), "1"],
  gimme: ["a".repeat(40)],
  uvfile: ["name", "1", "a".repeat(40), "0", "0"],
  uvigot: ["name", "1", "a".repeat(40), "0"],
  uvgimme: ["name"],
  config: ["/config", "0"],
  reqconfig: ["/config"],
  cookie: ["text"],
  pragma: ["client-version", "22100", "20210101", "120000"],
  message: ["text"],
  error: ["text"],
  unknown: ["text"],
};

/** Pages and lists that show what was pushed. */
const VIEWS = [
  "/projects",
  "/projects/demo",
  "/projects/demo/timeline",
  "/projects/demo/timeline?type=all",
  "/projects/demo/timeline.atom",
  "/projects/demo/branches",
  "/projects/demo/tags",
  "/projects/demo/contributors",
  "/projects/demo/tickets",
  "/projects/demo/tickets?view=board",
  "/projects/demo/wiki",
  "/projects/demo/wiki/walk",
  "/projects/demo/forum",
  "/projects/demo/technotes",
  "/projects/demo/tree/trunk",
  "/projects/demo/search?q=walk",
  ...[
    "timeline",
    "activity",
    "branches",
    "tags",
    "contributors",
    "tickets",
    "wiki",
    "wiki/walk",
    "forum",
    "technotes",
    "tree",
  ].map((name) => `/projects/demo/fossil/api/${name}`),
  "/v1/channels/general/messages",
];

/** Sends cards as a writer of `demo`. */
class Pusher {
  /** The check-in that every pushed one follows. */
  readonly tip: string;
  readonly ticket: string;
  readonly thread: string;
  readonly #url: string;
  readonly #password: string;
  readonly #projectCode: string;

  private constructor(place: Place, password: string, projectCode: string) {
    const { program, filled: { project } } = place;
    [this.tip, this.ticket, this.thread] = [project.tip, project.ticket, project.thread];
    this.#url = `${program.api}/projects/demo/fossil`;
    [this.#password, this.#projectCode] = [password, projectCode];
  }

  static async start(place: Place): Promise<Pusher> {
    const { program } = place;
    await registerAgent(program, "pusher").catch(() => {});
    await order(program, "PUT /v1/projects/demo/members/pusher", { role: "write" });
    const scopes = ["read", "write"];
    const name = crypto.randomUUID();
    const made = await order(program, "POST /v1/tokens", { owner: "pusher", name, scopes });
    const url = `${program.api}/projects/demo/fossil`;
    const cards: Card[] = [{ kind: "clone", version: 3, sequence: 1 }];
    const reply = await exchange(fetch, url, { cards });
    const push = reply.cards.find(({ kind }) => kind === "push");
    assert.ok(push?.kind === "push", "no push card");
    return new Pusher(place, textAt(made, "token"), push.projectCode);
  }

  send(message: Partial<SyncMessage>): Promise<SyncReply> {
    const push: Card = { kind: "push", serverCode: "a".repeat(40), projectCode: this.#projectCode };
    const login = { user: "pusher", password: this.#password };
    const { cards = [], ...rest } = message;
    return exchange(fetch, this.#url, { login, cards: [push, ...cards], ...rest });
  }
}

/** Messages with a run in each token of each card, and in each card of each artifact. */
export async function* pushedCards(place: Place, next: Next): AsyncGenerator<Input> {
  const pusher = await Pusher.start(place);
  for (const [name, tokens] of Object.entries(LINES)) {
    for (let at = 0; at <= tokens.length; at++) {
      const own = [...tokens];
      own[at] = run(next(), LINE).replace(/\n/g, "\\n");
      const raw = new TextEncoder().encode(`${[name, ...own].join(" ")}\n`);
      yield { name: `card ${name} ${at}`, send: async () => void await pusher.send({ raw }) };
    }
  }
  const raw = new TextEncoder().encode(next().repeat(LONGEST));
  yield { name: "no card", send: async () => void await pusher.send({ raw }) };
  for (const [name, make] of artifacts(pusher, next)) {
    const send = async () => {
      const content = make();
      await pusher.send({ cards: [{ kind: "file", hash: sha3(content), source: null, content }] });
    };
    yield { name: `push of ${name}`, send };
    yield { name: `views after ${name}`, send: () => look(place) };
  }
}

async function look({ program }: Place): Promise<void> {
  for (const path of VIEWS) await ask(program, path);
}

type Made = readonly [name: string, make: () => Uint8Array];

/** Artifacts with a run in one text, at its bound and beyond it. */
function* artifacts(pusher: Pusher, next: Next): Generator<Made> {
  for (const [name, bound, make] of TEXTS) {
    for (const length of bound === null ? [LONGEST] : [TEXT_BOUNDS[bound], LONGEST]) {
      const text = run(next(), length);
      yield [`${name} of ${length}`, () => written((value) => make(value, pusher), text)];
    }
  }
}

/** Stands for a text that this program would not write. */
const WORD = "standin";

/** An artifact as its author writes it, who need not keep to the rules. */
function written(make: (text: string) => Artifact, text: string): Uint8Array {
  try {
    return formatArtifact(make(text));
  } catch {
    const escaped = text.replaceAll("\\", "\\\\").replaceAll(" ", "\\s").replaceAll("\n", "\\n");
    const whole = new TextDecoder().decode(formatArtifact(make(WORD))).replaceAll(WORD, escaped);
    const cards = new TextEncoder().encode(whole.slice(0, whole.lastIndexOf("Z ")));
    return new Uint8Array([...cards, ...new TextEncoder().encode(`Z ${md5(cards)}\n`)]);
  }
}

const known = (): { readonly date: number; readonly user: string } => ({
  date: Date.now() - 1000 * Math.floor(Math.random() * 60_000),
  user: "pusher",
});

const checkin = (more: Partial<Manifest>, { tip }: Pusher): Manifest => ({
  kind: "manifest",
  baseline: null,
  comment: "pushed",
  files: [],
  mimetype: null,
  parents: [tip],
  cherrypicks: [],
  checksum: null,
  tags: [
    { sign: "*", name: "branch", target: null, value: "walked" },
    { sign: "*", name: "sym-walked", target: null, value: null },
    { sign: "-", name: "sym-trunk", target: null, value: null },
  ],
  ...known(),
  ...more,
});

const id = () => sha3(new TextEncoder().encode(crypto.randomUUID())).slice(0, 40);

const ticket = (name: string, value: string): Artifact => ({
  kind: "ticket",
  ticket: id(),
  fields: [{ name, value, append: false }, ...name === "title" ? [] : [TITLE]]
    .toSorted((one, other) => one.name < other.name ? -1 : 1),
  ...known(),
});

const TITLE = { name: "title", value: "pushed", append: false };

const MARKUPS = ["text/x-markdown", "text/x-fossil-wiki", "text/plain"] as const;

type Text = readonly [
  name: string,
  bound: keyof typeof TEXT_BOUNDS | null,
  make: (text: string, pusher: Pusher) => Artifact,
];

/** Each text that an artifact may have; those without a bound are as long as an artifact. */
const TEXTS: readonly Text[] = [
  ["a check-in's comment", "comment", (comment, pusher) => checkin({ comment }, pusher)],
  ["a check-in's user", "name", (user, pusher) => checkin({ user }, pusher)],
  ["a check-in's mimetype", "name", (mimetype, pusher) => checkin({ mimetype }, pusher)],
  [
    "a check-in's branch",
    "name",
    (name, pusher) =>
      checkin({
        tags: [
          { sign: "*", name: "branch", target: null, value: name },
          { sign: "*", name: `sym-${name}`, target: null, value: null },
        ],
      }, pusher),
  ],
  [
    "a file's name",
    "name",
    (name, pusher) =>
      checkin({ files: [{ name, hash: id(), mode: "file", oldName: null }] }, pusher),
  ],
  ...["sym-", "", "bgcolor", "comment", "user", "date", "branch", "hidden", "note"].flatMap(
    (name): Text[] => [
      [`a tag ${name}`, "name", (text, { tip }) => ({
        kind: "control",
        tags: [{ sign: "+", name: `${name}${text}`, target: tip, value: null }],
        ...known(),
      })],
      [`the value of a tag ${name}`, "comment", (value, { tip }) => ({
        kind: "control",
        tags: [{ sign: "+", name: `${name}x`.replace(/^(.{4,})x$/, "$1"), target: tip, value }],
        ...known(),
      })],
    ],
  ),
  ["the user of a control", "name", (user, { tip }) => ({
    kind: "control",
    tags: [{ sign: "+", name: "sym-x", target: tip, value: null }],
    date: known().date,
    user,
  })],
  ...["title", "status", "type", "severity", "subsystem", "comment", "icomment", "mimetype"].map(
    (name): Text => [
      `a ticket's ${name}`,
      name === "title" || name === "comment" ? name : name === "icomment" ? "comment" : "name",
      (text) => ticket(name, text),
    ],
  ),
  ["the name of a ticket's field", "name", (text) => ticket(text, "x")],
  ...MARKUPS.flatMap((mimetype): Text[] => [
    [`a page in ${mimetype}`, null, (text) => ({
      kind: "wiki",
      comment: null,
      title: "walk",
      mimetype,
      parents: [],
      text,
      ...known(),
    })],
    [`a post in ${mimetype}`, null, (text) => ({
      kind: "forum",
      root: null,
      title: "walk",
      inReplyTo: null,
      mimetype,
      parents: [],
      text,
      ...known(),
    })],
    [`a technote in ${mimetype}`, null, (text) => ({
      kind: "technote",
      comment: "walk",
      eventDate: known().date,
      id: id(),
      mimetype,
      parents: [],
      tags: [],
      text,
      ...known(),
    })],
  ]),
  ["a page's title", "name", (title) => ({
    kind: "wiki",
    comment: null,
    title,
    mimetype: null,
    parents: [],
    text: "x",
    ...known(),
  })],
  ["a post's title", "name", (title) => ({
    kind: "forum",
    root: null,
    title,
    inReplyTo: null,
    mimetype: null,
    parents: [],
    text: "x",
    ...known(),
  })],
  ["a technote's comment", "comment", (comment) => ({
    kind: "technote",
    comment,
    eventDate: known().date,
    id: id(),
    mimetype: null,
    parents: [],
    tags: [],
    text: "x",
    ...known(),
  })],
  ["an attachment's name", "name", (name) => ({
    kind: "attachment",
    name,
    target: "Home",
    source: id(),
    comment: null,
    mimetype: null,
    ...known(),
  })],
  ["an attachment's target", "name", (target, { tip }) => ({
    kind: "attachment",
    name: "x",
    target,
    source: tip,
    comment: null,
    mimetype: null,
    ...known(),
  })],
  ["an attachment's comment", "comment", (comment) => ({
    kind: "attachment",
    name: "x",
    target: "Home",
    source: id(),
    comment,
    mimetype: null,
    ...known(),
  })],
];
