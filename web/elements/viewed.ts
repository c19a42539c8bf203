/** Marks of the files of a review that a person has seen. This browser keeps them. */

/** Reviews whose marks are kept, and the key of all of them. */
const [MAX_KEPT, STORE] = [50, "muster-viewed"];

/** The version that was seen, by file, by review; the review marked last is the last. */
type Marks = Record<string, Record<string, string>>;

/** @param diff its `data-viewed` names the review; each file has its version in `data-version` */
export function startViewed(diff: HTMLElement): void {
  const review = diff.dataset["viewed"];
  if (review === undefined) return;
  const seen = read()[review] ?? {};
  const files = [...diff.querySelectorAll<HTMLDetailsElement>(".diff-file[data-version]")];
  const boxes = files.map((file) => addBox(file, seen[file.id] === file.dataset["version"]));
  const count = document.createElement("span");
  count.setAttribute("role", "status");
  document.querySelector(".viewed-count")?.replaceChildren(count);
  const tell = () => {
    const marked = boxes.filter(({ checked }) => checked).length;
    count.textContent = marked === 0 ? "" : `${marked} of ${files.length} viewed`;
  };
  tell();
  diff.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.name !== "viewed") return;
    const file = box.closest<HTMLDetailsElement>(".diff-file");
    if (file === null) return;
    fold(file, box.checked);
    keep(review, file, box.checked);
    tell();
    if (box.checked) file.querySelector("summary")?.focus();
  });
}

function addBox(file: HTMLDetailsElement, isSeen: boolean): HTMLInputElement {
  const label = document.createElement("label");
  label.className = "viewed";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.name = "viewed";
  box.checked = isSeen;
  label.append(box, " Viewed");
  file.querySelector(".diff-links")?.append(label);
  if (isSeen) fold(file, true);
  return box;
}

/** A file that was seen is folded, and says so. */
function fold(file: HTMLDetailsElement, isSeen: boolean): void {
  file.open = !isSeen;
  file.classList.toggle("seen", isSeen);
}

function keep(review: string, { id, dataset }: HTMLElement, isSeen: boolean): void {
  const { [review]: marks = {}, ...others } = read();
  const { [id]: _, ...rest } = marks;
  const own = isSeen ? { ...rest, [id]: dataset["version"] ?? "" } : rest;
  const kept = Object.entries(others).slice(1 - MAX_KEPT);
  try {
    localStorage.setItem(STORE, JSON.stringify({ ...Object.fromEntries(kept), [review]: own }));
  } catch {
    // The marks last as long as the page.
  }
}

function read(): Marks {
  try {
    const marks: unknown = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    return typeof marks === "object" && marks !== null ? marks as Marks : {};
  } catch {
    return {};
  }
}
