/** The name under which the style sheet marks what was found. */
const FOUND = "found";

/** Marks the words of a search in the messages that it found. */
export function markFound(chat: HTMLElement): void {
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
