/** Checks that run in a page. `page_checks.ts` strips the types and gives them to the browser. */
import type { PageChecks } from "./types.ts";

/** A part of `axe-core`, which the page has. */
declare const axe: {
  run(context: unknown, options: unknown): Promise<Record<"violations" | "passes", AxeResult[]>>;
};

interface AxeResult {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly element: Element }[];
}

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

  /** The rules of `axe-core` about colors. */
  const RULES_OF_COLORS = ["color-contrast", "link-in-text-block"];

  /** The elements of the present looks. */
  let elementsOf: ReadonlyMap<string, readonly Element[]> = new Map();

  /**
   * Whether the colors of an element matter: its text is more than a sign, in use, and where one can
   * scroll. The link that skips the frame is elsewhere until it has the focus, and `axe-core` says
   * nothing of it, so its look would be judged again on every page.
   */
  function isText(element: Element): boolean {
    const control = element instanceof HTMLLabelElement ? element.control : element;
    if (control !== null && control.closest(":disabled, [aria-disabled=true]") !== null) {
      return false;
    }
    const { width, height, right, bottom } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) return false;
    if (right + scrollX <= 0 || bottom + scrollY <= 0) return false;
    return textOf(element).length > 1 || isInBlock(element);
  }

  /** Whether an element is a link with text around it. */
  function isInBlock({ localName, parentElement, textContent }: Element): boolean {
    return localName === "a" && parentElement?.textContent?.trim() !== textContent?.trim();
  }

  /** The text of an element without those in it. */
  function textOf(element: Element): string {
    if (element.matches("[type=checkbox], [type=radio]")) return "";
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      return element.value || element.placeholder;
    }
    if (element instanceof HTMLSelectElement) return element.value;
    return [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.nodeValue ?? "").join("").trim();
  }

  /** All that decides on whether the colors of a text are good. */
  function lookOf(element: Element): string {
    const { color, fontSize, fontWeight, textDecorationLine, textShadow } = getComputedStyle(
      element,
    );
    const { localName, parentElement } = element;
    const look = [localName, color, fontSize, fontWeight, textDecorationLine, textShadow];
    if (isInBlock(element) && parentElement !== null) {
      const { color, display } = getComputedStyle(parentElement);
      look.push(`in ${color} ${display} ${textOf(element) === ""}`);
    }
    for (let above: Element | null = element; above !== null; above = above.parentElement) {
      const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(above);
      look.push(`${backgroundColor} ${backgroundImage} ${opacity} ${filter}`);
    }
    return look.filter((part, index) => part !== look[index - 1]).join("; ");
  }

  function isShown(element: Element): boolean {
    return element.checkVisibility({ visibilityProperty: true });
  }

  /** Whether an element has a bar to scroll by. */
  function doesScroll(element: Element): boolean {
    const { overflowX, overflowY } = getComputedStyle(element);
    return /auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth ||
      /auto|scroll/.test(overflowY) && element.scrollHeight > element.clientHeight;
  }

  /** The HTML of an element without what a form sends unseen, such as the address of the page. */
  function htmlOf(element: Element): string {
    const copy = element.cloneNode(true) as Element;
    for (const field of copy.querySelectorAll("input[type=hidden]")) field.removeAttribute("value");
    return copy.outerHTML;
  }

  /** Elements that are shown, and whether they scroll. */
  type Shown = ReadonlyMap<Element, boolean>;

  let noted: Shown = new Map();

  function shownElements(): Shown {
    const shown = [...document.querySelectorAll("*")].filter(isShown);
    return new Map(shown.map((element) => [element, doesScroll(element)]));
  }

  /** The elements of `some` that are not among `others`, without those within another one of them. */
  function outermost(some: Shown, others: Shown): readonly Element[] {
    return [...some.keys()].filter((element) => {
      const { parentElement } = element;
      if (others.has(element)) return false;
      return parentElement === null || !some.has(parentElement) || others.has(parentElement);
    });
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
    noteShown() {
      noted = shownElements();
    },
    differences() {
      const now = shownElements();
      return [
        ...outermost(now, noted).map((element) => `shown ${htmlOf(element)}`),
        ...outermost(noted, now).map((element) => `hidden ${htmlOf(element)}`),
        ...[...now].filter(([element, scrolls]) => scrolls && noted.get(element) === false)
          .map(([element]) => `to scroll ${htmlOf(element)}`),
      ];
    },
    looks() {
      const texts = [...document.body.querySelectorAll("*")].filter(isShown).filter(isText);
      elementsOf = Map.groupBy(texts, lookOf);
      return [...elementsOf.keys()];
    },
    async judge(looks) {
      const include = looks.flatMap((look) => elementsOf.get(look) ?? []);
      const { violations, passes } = await axe.run({ include }, {
        runOnly: RULES_OF_COLORS,
        resultTypes: ["violations", "passes"],
        elementRef: true,
        preload: false,
      });
      const passed = passes.flatMap(({ id, nodes }) =>
        nodes.map(({ element }) => element)
          .filter((element) => id === "color-contrast" || textOf(element) === "").map(lookOf)
      );
      const faults = violations.map(({ id, nodes }) =>
        `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(" | ")}`
      );
      return { faults, passed: [...new Set(passed)] };
    },
    unfold() {
      for (const details of document.querySelectorAll("details")) details.open = true;
      document.querySelector<HTMLElement>("[data-toggle][aria-expanded=false]")?.click();
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
