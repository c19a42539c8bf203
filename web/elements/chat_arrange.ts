import { addresses, type ChatLine, Fences, Runs } from "./chat_rules.ts";

const TIME = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const DAY = new Intl.DateTimeFormat(undefined, {
  weekday: "long",
  year: "numeric",
  month: "long",
  day: "numeric",
});

/** The messages in a list of them, without the lines between them. */
export function messagesIn(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(":scope > .message")];
}

/** Draws days, repeated names, code blocks and times as they are for this reader. */
export function arrange(list: HTMLElement, own: string): void {
  for (const day of list.querySelectorAll(":scope > .day")) day.remove();
  const [fences, runs] = [new Fences(), new Runs()];
  let isFirst = true;
  let day = "";
  for (const element of messagesIn(list)) {
    const line = lineOf(element);
    const newDay = DAY.format(line.time);
    if (newDay !== day) list.insertBefore(dayLine(newDay), startOf(element));
    const isUnread = element.previousElementSibling?.classList.contains("unread") ?? false;
    const place = fences.next(line);
    if (newDay !== day || isUnread) runs.part();
    // What is there keeps its height, so that nothing moves below the reader's eyes.
    const stays = element.dataset["done"] !== undefined && !isFirst;
    if (stays) runs.keep(line, place !== null, element.classList.contains("same"));
    else element.classList.toggle("same", runs.next(line, place !== null));
    element.classList.toggle("code", place === "code");
    element.classList.toggle("fence", place === "fence");
    finish(element, line, own);
    day = newDay;
    isFirst = false;
  }
}

/** Adds what only the reader's side knows, once. */
function finish(element: HTMLElement, { nick, text, time }: ChatLine, own: string): void {
  if (element.dataset["done"] !== undefined) return;
  element.dataset["done"] = "";
  const isProgram = element.dataset["program"] !== undefined;
  if (addresses({ nick, text }, own, isProgram)) element.classList.add("me");
  const clock = element.querySelector("time");
  if (clock !== null) clock.textContent = TIME.format(time);
  const answer = element.querySelector<HTMLElement>("[data-answers]");
  const answered = answer && document.getElementById(`m-${answer.dataset["answers"]}`);
  const words = answer?.querySelector("bdi");
  if (words && answered) {
    const { nick: of, text: said } = lineOf(answered);
    words.textContent = `${of}: ${said.slice(0, 100)}`;
  }
}

/** Where a line about a message begins: at the line above it that says what is new. */
function startOf(element: HTMLElement): Element {
  const above = element.previousElementSibling;
  return above?.classList.contains("unread") ? above : element;
}

function dayLine(words: string): HTMLElement {
  const line = document.createElement("li");
  line.className = "day";
  line.textContent = words;
  return line;
}

function lineOf(element: HTMLElement): ChatLine {
  const { nick = "", at = "" } = element.dataset;
  const text = element.querySelector(".text")?.textContent ?? "";
  return { nick, text, time: Date.parse(at) };
}
