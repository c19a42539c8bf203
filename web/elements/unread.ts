import { countOf } from "./chat_rules.ts";
import { notify } from "./notify.ts";

/** What the reader has not read: channels with their counts, and who wrote to the reader alone. */
interface Unread {
  readonly channels: readonly (readonly [name: string, unread: number, mentions: number])[];
  readonly people: readonly string[];
}

/**
 * Keeps the sidebar current while a stream is open.
 *
 * @param changed called when the sidebar shows something else than before
 */
export function followUnread(source: EventSource, changed: () => void = () => {}): void {
  source.addEventListener("unread", ({ data }) => {
    if (showUnread(JSON.parse(data))) changed();
  });
}

/** @returns whether the sidebar has changed */
function showUnread({ channels, people }: Unread): boolean {
  const own = document.querySelector<HTMLElement>("[data-own-places]");
  if (own === null) return false;
  const before = own.textContent;
  const counts = new Map(channels.map(([name, ...count]) => [name, count] as const));
  for (
    const link of own.querySelectorAll<HTMLElement>("#own-channels + ul a, #other-channels + ul a")
  ) {
    if (link.getAttribute("aria-current") === "page") continue;
    const name = link.dataset["place"] ?? "";
    const [unread, mentions] = counts.get(name) ?? [0, 0];
    const known = Number(link.dataset["mentions"] ?? 0);
    link.dataset["mentions"] = String(mentions);
    if (mentions > known) notify(name, `${countOf(mentions)}${namesYou(mentions)}`, link);
    showCount(link, unread, mentions);
  }
  showPeople(own, people);
  return own.textContent !== before;
}

function namesYou(mentions: number): string {
  return mentions === 1 ? " message names you" : " messages name you";
}

function showCount(link: HTMLElement, unread: number, mentions: number): void {
  link.querySelector(".count")?.remove();
  if (unread === 0) return;
  const words = mentions > 0 ? namesYou(mentions) : " unread";
  link.append(badge(mentions > 0 ? `@${countOf(mentions)}` : countOf(unread), words, mentions > 0));
}

function showPeople(own: HTMLElement, people: readonly string[]): void {
  const list = own.querySelector<HTMLElement>("#own-messages + ul");
  if (list === null) return;
  const known = new Set(
    Array.from(list.querySelectorAll<HTMLElement>("a"), ({ dataset }) => dataset["place"]),
  );
  const current = list.querySelector('a[aria-current="page"]')?.closest("li");
  list.replaceChildren(...(current ? [current] : []), ...people.map(personOf));
  list.parentElement?.toggleAttribute("hidden", list.children.length === 0);
  for (const link of list.querySelectorAll<HTMLElement>("a")) {
    const nick = link.dataset["place"];
    if (nick !== undefined && !known.has(nick)) notify(nick, "wrote to you", link);
  }
}

function personOf(nick: string): HTMLElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  const name = document.createElement("bdi");
  link.href = `/messages/${encodeURIComponent(nick)}`;
  link.dataset["place"] = nick;
  name.className = "ellipsis";
  name.textContent = nick;
  link.append(name, badge("unread", "", true));
  item.append(link);
  return item;
}

function badge(text: string, hidden: string, isAccent: boolean): HTMLElement {
  const element = document.createElement("span");
  element.className = isAccent ? "badge accent count" : "badge count";
  const words = document.createElement("span");
  words.className = "hidden-text";
  words.textContent = hidden;
  element.append(text, words);
  return element;
}
