/** Differences: hidden lines are fetched, and lines have addresses. */
import { appendText } from "./shown_text.ts";
import { startViewed } from "./viewed.ts";

/** Lines that one click shows, and up to which number all of them come at once. */
const [STEP, ALL] = [40, 1000];

export function startDiff(): void {
  const diff = document.querySelector<HTMLElement>(".diff");
  if (diff === null) return;
  for (const table of diff.querySelectorAll<HTMLTableElement>("table[data-lines-at]")) {
    offerLines(table);
  }
  diff.addEventListener("click", chooseLine);
  addEventListener("hashchange", markLine);
  markLine();
  startViewed(diff);
}

/** Unchanged lines that are not shown, and the row that stands for them. */
interface Gap {
  readonly table: HTMLTableElement;
  readonly row: HTMLTableRowElement;
  /** The first and the last one, as they are numbered after the change. */
  readonly first: number;
  readonly last: number;
  /** What to add to get the number before the change. */
  readonly shift: number;
  /** Whether the file ends with it. */
  readonly isEnd?: boolean;
}

/** What a hunk shows: the first line on each side, and the lines that follow it. */
function rangeOf(head: string) {
  const match = /@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(head);
  if (match === null) return null;
  const [oldCount, newCount] = [Number(match[2] ?? 1), Number(match[4] ?? 1)];
  // A range without lines names the line before it.
  const old = Number(match[1]) + (oldCount === 0 ? 1 : 0);
  const start = Number(match[3]) + (newCount === 0 ? 1 : 0);
  return {
    start,
    end: start + newCount,
    shift: old - start,
    endShift: old + oldCount - start - newCount,
  };
}

/** Puts buttons where a file has more lines than its difference shows. */
function offerLines(table: HTMLTableElement): void {
  let [next, shift] = [1, 0];
  for (const row of table.querySelectorAll<HTMLTableRowElement>("tr.hunk")) {
    const range = rangeOf(row.textContent ?? "");
    if (range === null) return;
    offer({ table, row, first: next, last: range.start - 1, shift: range.shift });
    [next, shift] = [range.end, range.endShift];
  }
  const last = Number(table.dataset["totalLines"] ?? 0);
  if (last < next) return;
  const row = table.createTBody().insertRow();
  row.className = "hunk";
  row.insertCell().colSpan = isSplit(table) ? 4 : 3;
  offer({ table, row, first: next, last, shift, isEnd: true });
}

function isSplit(table: HTMLTableElement): boolean {
  return table.classList.contains("split");
}

/** Puts buttons into the row of a gap. */
function offer(gap: Gap): void {
  const cell = gap.row.cells[0];
  cell?.querySelector(".expand")?.remove();
  const count = gap.last - gap.first + 1;
  if (cell === undefined || count <= 0) return;
  const buttons = document.createElement("span");
  buttons.className = "expand";
  if (count > STEP) {
    const show = gap.isEnd === true ? showBelow : showAbove;
    buttons.append(button(`${STEP} more lines`, () => show(gap)));
  }
  if (count <= ALL) {
    const words = count === 1 ? "1 more line" : `All ${count} more lines`;
    buttons.append(button(words, () => showAll(gap)));
  }
  cell.prepend(buttons);
}

function button(words: string, act: () => Promise<void>): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.addEventListener("click", () => {
    made.disabled = true;
    void act().finally(() => (made.disabled = false));
  });
  return made;
}

/** Shows the first lines of the gap at the end of a file. */
async function showBelow(gap: Gap): Promise<void> {
  const rows = await fetchRows({ ...gap, last: gap.first + STEP - 1 });
  if (rows === null) return;
  gap.row.before(...rows);
  offer({ ...gap, first: gap.first + STEP });
}

/** Shows the last lines of the gap, those above its hunk. */
async function showAbove(gap: Gap): Promise<void> {
  const first = gap.last - STEP + 1;
  const rows = await fetchRows({ ...gap, first });
  if (rows === null) return;
  gap.row.after(...rows);
  offer({ ...gap, last: first - 1 });
}

async function showAll(gap: Gap): Promise<void> {
  const rows = await fetchRows(gap);
  if (rows !== null) gap.row.replaceWith(...rows);
}

/** The lines of a gap as rows; null if they cannot be loaded. */
async function fetchRows({ table, first, last, shift }: Gap): Promise<HTMLElement[] | null> {
  const url = new URL(table.dataset["linesAt"] ?? "", location.href);
  url.searchParams.set("first", String(first));
  url.searchParams.set("count", String(last - first + 1));
  const response = await fetch(url, { headers: { accept: "application/json" } }).catch(() => null);
  if (response?.ok !== true) return null;
  const { lines } = await response.json() as { lines: string[] };
  return lines.map((text, index) => {
    const number = first + index;
    const row = document.createElement("tr");
    const [old, code] = [numberCell(number + shift), codeCell(text)];
    if (isSplit(table)) row.append(old, codeCell(text), numberCell(number), code);
    else row.append(old, numberCell(number), code);
    return row;
  });
}

function numberCell(number: number): HTMLElement {
  const cell = document.createElement("td");
  cell.className = "num";
  cell.dataset["n"] = String(number);
  return cell;
}

function codeCell(text: string): HTMLElement {
  const cell = document.createElement("td");
  cell.className = "code";
  appendText(cell, text);
  return cell;
}

/** A click on the number of a line puts its address into that of the page. */
function chooseLine(event: Event): void {
  const cell = (event.target as Element).closest<HTMLElement>("td.num[data-n]");
  const file = cell?.closest<HTMLElement>(".diff-file");
  if (cell === null || cell === undefined || file === null || file === undefined) return;
  const isOld = cell.parentElement?.querySelector(".num") === cell;
  history.replaceState(history.state, "", `#${file.id}${isOld ? "L" : "R"}${cell.dataset["n"]}`);
  markLine();
}

/** Marks the line of the address: the file's anchor, `L` (before) or `R` (after), its number. */
function markLine(): void {
  for (const row of document.querySelectorAll(".diff tr.chosen")) row.classList.remove("chosen");
  const [, anchor = "", side = "", number = ""] = /^#(f-.+)([LR])(\d{1,9})$/.exec(location.hash) ??
    [];
  const file = document.getElementById(anchor);
  if (!(file instanceof HTMLDetailsElement)) return;
  for (const row of file.querySelectorAll<HTMLTableRowElement>(".diff-lines tr")) {
    const cell = row.querySelectorAll<HTMLElement>(".num")[side === "L" ? 0 : 1];
    const shown = cell?.dataset["n"] ?? cell?.querySelector<HTMLElement>("[data-n]")?.dataset["n"];
    if (shown !== number) continue;
    file.open = true;
    row.classList.add("chosen");
    row.scrollIntoView({ block: "center" });
    return;
  }
}
