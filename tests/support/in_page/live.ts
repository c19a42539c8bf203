/** Looks in a page for what people's texts may not make. `page_checks.ts` strips the types. */
import type { LiveChecks } from "./types.ts";

(() => {
  /** Where the page shows what people wrote, with elements of their own making. */
  const RENDERED = ".prose, .messages .text, .inbox-text";

  /** The elements that a rendered text may have: those of the sanitiser, and of diagrams. */
  const ALLOWED = new Set(
    ("h1 h2 h3 h4 h5 h6 p blockquote pre ul ol li dl dt dd hr div table caption colgroup col thead " +
      "tbody tfoot tr th td a abbr b bdi bdo br cite code del details dfn em i img ins kbd mark q " +
      "rp rt ruby s samp small span strike strong sub summary sup time tt u var wbr address center " +
      "font figure figcaption section article nav header footer main aside svg path polygon circle " +
      "ellipse text tspan").split(" "),
  );

  /** Elements that no page of the program has, wherever they come from. */
  const FORBIDDEN =
    "iframe, frame, frameset, object, embed, applet, base, style, marquee, portal, " +
    "template:not([data-agent], [data-message]), meta[http-equiv], plaintext, xmp, listing, foreignObject, animate, set, math, " +
    "use:not([href='#icon-bot'], [href='#icon-reply']), " +
    "video, audio, source, map, area, dialog";

  /** Attributes that hold an address. */
  const ADDRESSES = ["href", "src", "action", "formaction", "xlink:href", "data", "poster", "ping"];

  const OVERRIDES = /[\u202a-\u202e\u2066-\u2068]/;

  function nameOf(element: Element): string {
    return element.outerHTML.slice(0, 200).replace(/\s+/g, " ");
  }

  /** Whether an address runs something in the page, or is not of the web. */
  function isRun(value: string): boolean {
    const { protocol } = new URL(value, document.baseURI);
    return !/^(?:https?|mailto|ftp|ircs?|ssh|git|data):$/.test(protocol) ||
      protocol === "data:" && !/^data:image\/svg\+xml,%3Csvg/.test(value);
  }

  function faultsOfElement(element: Element): string[] {
    const found: string[] = [];
    const { localName } = element;
    if (element.matches(FORBIDDEN)) found.push("is forbidden");
    if (localName === "script" && !element.getAttribute("src")?.startsWith("/assets/")) {
      found.push("is a script of nobody's");
    }
    if (localName.includes("-")) found.push("is a custom element");
    for (const { name, value } of element.attributes) {
      if (/^(?:on|style$|srcdoc$|srcset$|formaction$|ping$)/i.test(name)) found.push(`has ${name}`);
      if (ADDRESSES.includes(name) && isRun(value)) found.push(`runs its ${name}`);
    }
    const isForeign = (address: string | null) =>
      address !== null && new URL(address, document.baseURI).origin !== location.origin;
    if (localName === "form" && isForeign(element.getAttribute("action"))) {
      found.push("sends to another site");
    }
    if (localName === "link" && /^https?:/.test(element.getAttribute("href") ?? "")) {
      found.push("loads from another site");
    }
    if (localName === "a" && isForeign(element.getAttribute("href"))) {
      const rel = element.getAttribute("rel") ?? "";
      if (!/nofollow/.test(rel) || !/noopener/.test(rel)) found.push("trusts another site");
      if (element.closest(RENDERED) === null) found.push("leads to another site");
    }
    return found.map((fault) => `${fault}: ${nameOf(element)}`);
  }

  /** What rendered texts may not have, though the page itself does. */
  function faultsOfRendered(element: Element): string[] {
    const found: string[] = [];
    const { localName, id } = element;
    if (!ALLOWED.has(localName)) found.push(`a text has a ${localName}`);
    if (id !== "" && !id.startsWith("doc-")) found.push("a text takes an id");
    for (const name of ["name", "for", "form", "contenteditable", "autofocus", "accesskey"]) {
      if (element.hasAttribute(name)) found.push(`a text has ${name}`);
    }
    if (/^data-/.test([...element.attributes].map(({ name }) => name).join(" "))) {
      found.push("a text has data for scripts");
    }
    const { position } = getComputedStyle(element);
    if (!/^(?:static|relative)$/.test(position) && !element.matches(".hidden-text")) {
      found.push(`a text is ${position}`);
    }
    return found.map((fault) => `${fault}: ${nameOf(element)}`);
  }

  /** The box of text whose direction a character in it can change. */
  function paragraphOf(node: Node): Element | null {
    let above = node.parentElement;
    for (; above !== null; above = above.parentElement) {
      const { display, unicodeBidi } = getComputedStyle(above);
      if (display !== "inline" && display !== "contents") return above;
      if (/isolate|plaintext/.test(unicodeBidi)) return above;
    }
    return above;
  }

  /** Words of the page that an override in somebody's text can turn. */
  function findTurned(root: Document): string[] {
    const found: string[] = [];
    const walker = root.createTreeWalker(root.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (!OVERRIDES.test(node.nodeValue ?? "")) continue;
      const paragraph = paragraphOf(node);
      if (paragraph === null || paragraph.matches("title, script, option")) continue;
      const range = root.createRange();
      range.setStartAfter(node);
      range.setEnd(paragraph, paragraph.childNodes.length);
      const behind = range.toString().trim();
      if (/[\p{L}\p{N}]/u.test(behind)) {
        found.push(
          `an override can turn ${JSON.stringify(behind.slice(0, 60))} in ${nameOf(paragraph)}`,
        );
      }
    }
    return found;
  }

  function faultsOf(root: Document): string[] {
    const rendered = [...root.querySelectorAll(RENDERED)];
    return [
      ...[...root.querySelectorAll("*")].flatMap(faultsOfElement),
      ...rendered.flatMap((one) => [...one.querySelectorAll("*")]).flatMap(faultsOfRendered),
      ...findTurned(root),
      ...("hurt" in (root.defaultView ?? {}) ? ["something ran"] : []),
    ];
  }

  /** Shows a page in a frame of this one, without the script of the pages. */
  async function openFrame(path: string): Promise<HTMLIFrameElement> {
    const response = await fetch(path, { headers: { accept: "text/html" } });
    const html = await response.text();
    const frame = document.createElement("iframe");
    frame.width = "1280";
    frame.height = "900";
    frame.srcdoc = html.replace(/<script type="module" src="\/assets\/[^"]+"><\/script>/, "");
    const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
    document.body.append(frame);
    await loaded;
    return frame;
  }

  async function faultsOfFrame(path: string): Promise<string[]> {
    const frame = await openFrame(path);
    const root = frame.contentDocument;
    if (root === null) return [`${path} is not shown`];
    const found = faultsOf(root);
    for (const width of ["1280", "390"]) {
      frame.width = width;
      const { scrollWidth, clientWidth } = root.documentElement;
      if (scrollWidth > clientWidth) found.push(`${scrollWidth} pixels wide in ${width}`);
    }
    frame.remove();
    return found.map((fault) => `${path}: ${fault}`);
  }

  const live: LiveChecks = {
    liveFaults: () => faultsOf(document),
    async liveFaultsOf(paths) {
      const found: string[] = [];
      for (const path of paths) found.push(...await faultsOfFrame(path));
      return found;
    },
    missing(texts) {
      const fold = (text: string) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
      const fields = [...document.querySelectorAll("textarea, input")]
        .map((field) => (field as HTMLInputElement).value);
      const shown = fold([document.body.textContent ?? "", ...fields].join(" "));
      return texts.filter((text) => !shown.includes(fold(text)));
    },
  };
  Object.assign(globalThis, { liveChecks: live });
})();
