import { markFound } from "./chat_found.ts";
import { ChatHere } from "./chat_here.ts";
import { ChatLog } from "./chat_log.ts";
import { ChatRead } from "./chat_read.ts";
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
