import { nameOfMark, TURNING } from "./turning.ts";

/** Adds a text to an element, with the marks that would turn it shown as on the server's pages. */
export function appendText(element: HTMLElement, text: string): void {
  element.append(
    ...text.split(TURNING).map((part, index) => index % 2 === 0 ? part : markOf(part)),
  );
}

function markOf(mark: string): HTMLElement {
  const shown = document.createElement("span");
  shown.className = "turning";
  shown.textContent = nameOfMark(mark);
  return shown;
}
