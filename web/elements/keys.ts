/** How long the first key of a pair is remembered, in milliseconds. */
const PAIR = 1500;

/** Keys that act on every page. */
const KEYS: readonly (readonly [keys: string, words: string])[] = [
  ["/", "Search on this page, in this project, or in all projects"],
  ["j", "Next entry of the list"],
  ["k", "Previous entry of the list"],
  ["Enter", "Open the entry"],
  ["y", "Turn the address of a file into its permalink"],
  ["?", "Show these shortcuts"],
  ["Esc", "Close, or leave a field"],
];

/** Shortcuts: `g` and a letter, `/`, `j` and `k` in lists, `?`. */
export function startKeys(): void {
  let isPair = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  if (location.hash === "#q") focusSearch()?.();
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target, key } = event;
    if (isEditable(target)) {
      if (key === "Escape") (target as HTMLElement).blur();
      return;
    }
    if (document.querySelector("dialog[open]") !== null) return;
    const act = isPair ? go(key) : actionOf(key);
    isPair = !isPair && key === "g";
    clearTimeout(timer);
    if (isPair) timer = setTimeout(() => (isPair = false), PAIR);
    if (act === null) return;
    event.preventDefault();
    act();
  });
}

function isEditable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    target.matches("input, textarea, select, [contenteditable]");
}

function actionOf(key: string): (() => void) | null {
  switch (key) {
    case "/":
      return focusSearch();
    case "j":
      return () => move(1);
    case "k":
      return () => move(-1);
    case "y":
      return permalink();
    case "?":
      return showShortcuts;
    default:
      return null;
  }
}

/** The address of a file becomes the one that stays; the chosen lines are kept. */
function permalink(): (() => void) | null {
  const link = document.querySelector<HTMLAnchorElement>("a[data-permalink]");
  return link === null ? null : () => location.replace(link.href + location.hash);
}

/** The places of the navigation, by their keys. */
function places(): HTMLAnchorElement[] {
  return [...document.querySelectorAll<HTMLAnchorElement>("a[data-key]")];
}

function go(key: string): (() => void) | null {
  const place = places().find(({ dataset }) => dataset["key"] === key);
  return place === undefined ? null : () => place.click();
}

function focusSearch(): (() => void) | null {
  const field = document.querySelector<HTMLInputElement>("main [type=search], [type=search]");
  if (field === null) return goToSearch();
  return () => {
    field.focus();
    field.select();
  };
}

/** Leads from a page without a search to the nearest one, whose field `#q` then has the focus. */
function goToSearch(): (() => void) | null {
  if (location.pathname === "/login") return null;
  const [project] = /^\/projects\/(?!new(?:\/|$))[^/]+/.exec(location.pathname) ?? [];
  const to = project === undefined ? "/search#q" : `${project}/search#q`;
  return location.pathname + location.hash === to ? null : () => location.assign(to);
}

/** Moves the focus by one entry in the list that has it, or else in the first list of the page. */
function move(by: 1 | -1): void {
  const { activeElement } = document;
  const list = activeElement?.closest("[data-keys=list]") ??
    document.querySelector("[data-keys=list]");
  const links = [...list?.children ?? []].flatMap((entry) => {
    const link = entry.querySelector<HTMLElement>("a[href], button, summary");
    return link === null ? [] : [{ entry, link }];
  });
  const now = links.findIndex(({ entry }) => entry.contains(activeElement));
  const next = links[now === -1 ? (by === 1 ? 0 : links.length - 1) : now + by];
  next?.link.focus();
  next?.entry.scrollIntoView({ block: "nearest" });
}

function showShortcuts(): void {
  const dialog = document.createElement("dialog");
  dialog.className = "shortcuts";
  dialog.setAttribute("aria-labelledby", "shortcuts");
  const heading = document.createElement("h2");
  heading.id = "shortcuts";
  heading.textContent = "Shortcuts";
  const list = document.createElement("dl");
  for (const place of places()) {
    add(list, ["g", place.dataset["key"] ?? ""], `Go to ${place.textContent?.trim()}`);
  }
  for (const [key, words] of KEYS) add(list, [key], words);
  const form = document.createElement("form");
  form.method = "dialog";
  const close = document.createElement("button");
  close.textContent = "Close";
  form.append(close);
  dialog.append(heading, list, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function add(list: HTMLElement, keys: readonly string[], words: string): void {
  const term = document.createElement("dt");
  for (const key of keys) {
    const box = document.createElement("kbd");
    box.textContent = key;
    term.append(box, " ");
  }
  const meaning = document.createElement("dd");
  meaning.textContent = words;
  list.append(term, meaning);
}
