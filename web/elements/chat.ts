import { ChatHere } from "./chat_here.ts";
import { ChatLog } from "./chat_log.ts";
import { ChatStream } from "./chat_stream.ts";
import { Composer } from "./composer.ts";
import { notify, startNotify } from "./notify.ts";

/** The streams that this module follows. */
const STREAM = /^\/live\/(?:channels|messages)\//;

/** Makes the page of a channel, or of a conversation, live and quick. */
export function startChat(): void {
  const chat = document.querySelector<HTMLElement>("[data-chat]");
  if (chat === null) return;
  const { own = "", channel } = chat.dataset;
  const here = new ChatHere(chat);
  const log = new ChatLog(chat, own, {
    newest: (live) => followChat(chat, { live, log, here }),
    called: (nick, text) => notify(channel === undefined ? nick : `${nick} in ${channel}`, text),
  });
  new Composer(chat, () => [...log.speakers(), ...here.nicks()]);
  startNotify();
  markFound(chat);
  const { live = "" } = document.body.dataset;
  if (STREAM.test(live)) followChat(chat, { live, log, here });
}

/** What a followed chat consists of. */
interface Chat {
  /** The address of its stream. */
  readonly live: string;
  readonly log: ChatLog;
  readonly here: ChatHere;
}

/** Follows a channel or a conversation from now on, once. */
function followChat(chat: HTMLElement, { live, log, here }: Chat): void {
  if (chat.dataset["followed"] !== undefined) return;
  chat.dataset["followed"] = "";
  const read = new ChatRead(chat, log);
  const title = document.title;
  let missed = 0;
  const stream = new ChatStream(live, chat, {
    message(id, message) {
      if (!log.add(id, message)) return;
      if (document.hidden) document.title = `(${++missed}) ${title}`;
      read.later();
    },
    joined: (entry) => here.add(entry),
    left: (nick) => here.remove(nick),
    here: (entries) => here.set(entries),
    topic(text) {
      const topic = chat.querySelector("[data-topic]");
      if (topic !== null) topic.textContent = text;
    },
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    missed = 0;
    document.title = title;
    read.later();
  });
  stream.start();
  read.later();
}

/** The name under which the style sheet marks what was found. */
const FOUND = "found";

/** Marks the words of a search in the messages that it found. */
function markFound(chat: HTMLElement): void {
  const words = (new URL(location.href).searchParams.get("q") ?? "").toLowerCase().split(/\s+/)
    .filter((word) => word !== "" && !word.startsWith("from:"));
  if (words.length === 0 || !("highlights" in CSS)) return;
  const ranges: Range[] = [];
  for (const message of chat.querySelectorAll(".message .text")) {
    const texts = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      for (const word of words) ranges.push(...rangesOf(node, word));
    }
  }
  CSS.highlights.set(FOUND, new Highlight(...ranges));
}

function rangesOf(node: Node, word: string): Range[] {
  const text = (node.textContent ?? "").toLowerCase();
  const ranges: Range[] = [];
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    const range = document.createRange();
    // Lower case may be longer than what it stands for.
    if (at + word.length > (node.textContent ?? "").length) break;
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    ranges.push(range);
  }
  return ranges;
}

/** How long messages must be in sight before they count as read, in milliseconds. */
const SEEN = 1000;

/** Moves the read marker to the newest message, once the reader has seen it. */
class ChatRead {
  readonly #chat: HTMLElement;
  readonly #log: ChatLog;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #told: string | null = null;

  constructor(chat: HTMLElement, log: ChatLog) {
    this.#chat = chat;
    this.#log = log;
    chat.querySelector(".chat-log")?.addEventListener("scroll", () => this.later(), {
      passive: true,
    });
  }

  /** Looks soon what the reader has seen. */
  later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#look();
    }, SEEN);
  }

  #look(): void {
    const { newest, isAtEnd } = this.#log;
    if (document.hidden || !isAtEnd || newest === null || newest === this.#told) return;
    const csrf = this.#chat.querySelector<HTMLInputElement>(".composer [name=csrf]")?.value ?? "";
    const body = new URLSearchParams({ action: "read", csrf, upto: newest });
    this.#told = newest;
    const headers = { accept: "application/json" };
    fetch(location.pathname, { method: "POST", body, headers, keepalive: true }).then(({ ok }) => {
      if (!ok) this.#told = null;
      else this.#showRead();
    }).catch(() => this.#told = null);
  }

  /** Takes the number of unread messages out of the sidebar. */
  #showRead(): void {
    document.querySelector(`.sidebar a[aria-current="page"] .count`)?.remove();
  }
}
