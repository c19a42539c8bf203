import { colorOf } from "./chat_rules.ts";

/** Somebody in a channel: the nick, the sign of the status, whether it is an agent. */
export type HereEntry = readonly [nick: string, sign: string, isAgent: boolean];

/** The statuses in the order of the list. */
const SIGNS = ["@", "+", ""];

/** With so many names or fewer, nobody needs to filter them. */
const FEW = 10;

/** Who is in the channel. */
export class ChatHere {
  readonly #list: HTMLElement | null;
  readonly #count: HTMLElement | null;
  readonly #filter: HTMLInputElement | null;
  /** The picture that marks agents. */
  readonly #picture: Node | null;
  /** The number of those that the page does not list. */
  #others = 0;

  constructor(chat: HTMLElement) {
    this.#list = chat.querySelector<HTMLElement>("[data-here]");
    this.#count = chat.querySelector<HTMLElement>("[data-here-count]");
    this.#filter = chat.querySelector<HTMLInputElement>("[data-here-filter]");
    this.#filter?.addEventListener("input", () => this.#show());
    this.#picture = chat.querySelector<HTMLTemplateElement>("template[data-agent]")?.content ??
      null;
    this.#others = Number(this.#count?.textContent ?? 0) - this.nicks().length;
    // On a phone, the list would take the place of the messages.
    const fold = chat.querySelector<HTMLDetailsElement>("details.here");
    if (fold !== null && matchMedia("(max-width: 52rem)").matches) fold.open = false;
    this.#show();
  }

  nicks(): string[] {
    return this.#entries().map(({ dataset }) => dataset["nick"] ?? "");
  }

  set(entries: readonly HereEntry[]): void {
    this.#list?.replaceChildren(...entries.map((entry) => this.#itemOf(entry)));
    this.#show();
  }

  add(entry: HereEntry): void {
    const [nick] = entry;
    if (this.nicks().includes(nick)) return;
    const item = this.#itemOf(entry);
    const place = this.#entries().find((other) => isBefore(item, other)) ?? null;
    this.#list?.insertBefore(item, place);
    this.#show();
  }

  remove(nick: string): void {
    const item = this.#entries().find(({ dataset }) => dataset["nick"] === nick);
    if (item === undefined) this.#others = Math.max(0, this.#others - 1);
    else item.remove();
    this.#show();
  }

  #entries(): HTMLElement[] {
    return [...this.#list?.querySelectorAll<HTMLElement>(":scope > li") ?? []];
  }

  #itemOf([nick, sign, isAgent]: HereEntry): HTMLElement {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const mark = document.createElement("span");
    const name = document.createElement("bdi");
    item.dataset["nick"] = nick;
    item.dataset["sign"] = sign;
    link.href = `/messages/${encodeURIComponent(nick)}`;
    link.className = `color-${colorOf(nick)}`;
    mark.className = "sign";
    mark.textContent = sign;
    name.textContent = nick;
    link.append(mark, name);
    if (isAgent && this.#picture !== null) link.append(this.#picture.cloneNode(true));
    item.append(link);
    return item;
  }

  /** Shows how many are here, and those whose names have what the reader looks for. */
  #show(): void {
    const entries = this.#entries();
    if (this.#count !== null) this.#count.textContent = String(entries.length + this.#others);
    if (this.#filter === null) return;
    this.#filter.hidden = entries.length <= FEW && this.#filter.value === "";
    const wanted = this.#filter.value.trim().toLowerCase();
    for (const entry of entries) {
      entry.hidden = !(entry.dataset["nick"] ?? "").toLowerCase().includes(wanted);
    }
  }
}

function isBefore({ dataset: one }: HTMLElement, { dataset: other }: HTMLElement): boolean {
  const [rank, otherRank] = [one, other].map(({ sign = "" }) => SIGNS.indexOf(sign));
  if (rank !== otherRank) return (rank ?? 0) < (otherRank ?? 0);
  return (one["nick"] ?? "") < (other["nick"] ?? "");
}
