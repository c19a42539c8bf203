/** Checks that run in a page. `page_checks.ts` strips the types and gives them to the browser. */
import type { PageChecks } from "./types.ts";

(() => {
  /** How an element looks in those properties that can show the focus. */
  interface Looks {
    readonly outline: string;
    readonly shadow: string;
    readonly hasOutline: boolean;
  }

  const INTERACTIVE = "a[href], button, input, select, textarea, summary, iframe, audio, video, " +
    "[tabindex], [contenteditable]";

  /** An element in a word or two. */
  function nameOf(element: Element): string {
    return element.outerHTML.slice(0, 120).replace(/\s+/g, " ");
  }

  function looksOf(element: Element): Looks {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(element);
    const hasOutline = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
    return {
      outline: hasOutline ? `${outlineStyle} ${outlineWidth} ${outlineColor}` : "none",
      shadow: boxShadow,
      hasOutline,
    };
  }

  /** Whether the keyboard must reach an element. */
  function isReachable(element: HTMLElement): boolean {
    if (element.tabIndex < 0 || element.matches(":disabled, input[type=hidden]")) return false;
    if (!isShown(element)) return false;
    if (!(element instanceof HTMLInputElement) || element.type !== "radio") return true;
    // Of a group of radio buttons, the Tab key reaches the chosen one, or else the first.
    const group = [...document.querySelectorAll<HTMLInputElement>("input[type=radio]")]
      .filter(({ name, form }) => name === element.name && form === element.form);
    return element === (group.find(({ checked }) => checked) ?? group[0]);
  }

  /** The part of a box that its ancestors do not clip: its width and height. */
  function shownPart(element: Element): { readonly width: number; readonly height: number } {
    let { left, top, right, bottom } = element.getBoundingClientRect();
    for (let above = element.parentElement; above !== null; above = above.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(above);
      const box = above.getBoundingClientRect();
      if (overflowX === "hidden" || overflowX === "clip") {
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      }
      if (overflowY === "hidden" || overflowY === "clip") {
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
    }
    return { width: right - left, height: bottom - top };
  }

  /** Elements that were visible when the page was unfolded. */
  const known = new WeakSet<Element>();

  function isShown(element: Element): boolean {
    return element.checkVisibility({ visibilityProperty: true });
  }

  let expected: HTMLElement[] = [];
  let before = new Map<Element, Looks>();
  const reached: Element[] = [];
  const faults = new Set<string>();
  let isAround = false;

  /** Notes that an element has the focus, and whether a person can see it. */
  function note(element: HTMLElement): void {
    if (element === reached.at(-1)) faults.add(`the focus stays on ${nameOf(element)}`);
    if (reached.includes(element)) {
      isAround = true;
      return;
    }
    reached.push(element);
    const looks = looksOf(element);
    const was = before.get(element);
    const isMarked = looks.hasOutline && looks.outline !== was?.outline ||
      looks.shadow !== "none" && looks.shadow !== was?.shadow;
    if (!isMarked) faults.add(`the focus is not visible on ${nameOf(element)}`);
    const { width, height } = shownPart(element);
    if (width < 1 || height < 1) faults.add(`the focus is on a hidden ${nameOf(element)}`);
    if (Number(getComputedStyle(element).opacity) === 0) {
      faults.add(`the focus is on a transparent ${nameOf(element)}`);
    }
  }

  /** Elements that stand on a page only once. */
  async function findFaults(): Promise<string[]> {
    const found: string[] = [];
    const { title, documentElement } = document;
    if (!/^.+ · muster$/.test(title)) found.push(`the title is ${JSON.stringify(title)}`);
    if (documentElement.lang === "") found.push("the language is missing");
    const headings = [...document.querySelectorAll("h1")].filter((one) => one.checkVisibility());
    if (headings.length !== 1) found.push(`the page has ${headings.length} elements h1`);
    if (headings[0]?.textContent?.trim() === "") found.push("the h1 is empty");
    for (const image of document.images) {
      // A lazy picture is loaded only once somebody sees it.
      image.loading = "eager";
      await image.decode().catch(() => found.push(`broken: ${nameOf(image)}`));
    }
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
    if (twice.length > 0) found.push(`ids stand twice: ${[...new Set(twice)].join(", ")}`);
    return found;
  }

  /** Boxes with an edge, out of which nothing may stick. */
  const FRAMED = ".card, .list > li, .board-card, .timeline > li, .notice";

  const checks: PageChecks = {
    faults: findFaults,
    overflow() {
      const boxes = document.querySelectorAll(`:root, main, ${FRAMED}`);
      return Math.max(...[...boxes].map((box) => box.scrollWidth - box.clientWidth));
    },
    pageOverflow() {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    },
    appeared() {
      const visible = [...document.body.querySelectorAll("*")].filter(isShown);
      const kinds = visible.filter((element) => !known.has(element))
        .map(({ localName, className }) => `${localName}.${className}`);
      return [...new Set(kinds)];
    },
    unfold() {
      for (const details of document.querySelectorAll("details")) details.open = true;
      document.querySelector<HTMLElement>("[data-toggle][aria-expanded=false]")?.click();
      for (const element of document.body.querySelectorAll("*")) {
        if (isShown(element)) known.add(element);
      }
    },
    startFocusWalk() {
      expected = [...document.querySelectorAll<HTMLElement>(INTERACTIVE)].filter(isReachable);
      (document.activeElement as HTMLElement | null)?.blur();
      before = new Map(expected.map((element) => [element, looksOf(element)]));
      // The walk begins at the top, also where the page put the focus into a field.
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
      document.addEventListener("focusin", ({ target }) => note(target as HTMLElement));
      return expected.length;
    },
    hasWalkedAround: () => isAround,
    focusFaults() {
      (document.activeElement as HTMLElement | null)?.blur();
      const missed = expected.filter((element) =>
        element.isConnected && !reached.includes(element)
      );
      const order = reached.map((element) => expected.indexOf(element as HTMLElement))
        .filter((index) => index >= 0);
      const isInOrder = order.every((index, place) =>
        place === 0 || index > (order[place - 1] ?? 0)
      );
      return [
        ...faults,
        ...missed.map((element) => `the keyboard does not reach ${nameOf(element)}`),
        ...(isInOrder ? [] : ["the focus does not follow the order of the document"]),
        ...(isAround ? [] : ["the focus does not come around"]),
      ];
    },
  };
  Object.assign(globalThis, { pageChecks: checks });
})();
