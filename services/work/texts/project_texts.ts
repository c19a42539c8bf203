import type { Reference } from "../../engines/fossil/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { type Links, type Markup, pageAddress, referencesIn } from "../../engines/markup/mod.ts";
import { nextTurn } from "../../kernel/pieces.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";

/** Texts of one request that wait to be rendered; many more would be shown as plain text. */
const AT_ONCE = 50;

/** After so many characters of a text, others have their turn. */
const LONG = 20_000;

export interface ProjectTextsOptions {
  readonly markup: Markup;
  readonly repositories: ProjectRepositories;
  readonly accounts: Pick<AccountDirectory, "find">;
  /** The numbers of tickets. */
  readonly numbers: {
    /** The whole ids of the tickets that references such as `#12` name, by reference. */
    named(project: Project, references: readonly string[]): Promise<ReadonlyMap<string, string>>;
  };
}

/** A text of a project. */
export interface ProjectText {
  readonly text: string;
  readonly mimetype: string;
}

/** Texts of projects as HTML, with links to the project's pages, tickets, check-ins and people. */
export class ProjectTexts {
  readonly #options: ProjectTextsOptions;

  constructor(options: ProjectTextsOptions) {
    this.#options = options;
  }

  /** What the worker that renders does. */
  get load(): Markup["load"] {
    return this.#options.markup.load;
  }

  /** The HTML of a text, safe to show. */
  async html(project: Project, text: ProjectText): Promise<string> {
    const [html = ""] = await this.htmlOf(project, [text]);
    return html;
  }

  /**
   * The lines of a file as HTML that shows their syntax; null if they must be shown as plain text.
   */
  async highlight(
    { slug }: Project,
    { path, lines }: { readonly path: string; readonly lines: readonly string[] },
  ): Promise<readonly string[] | null> {
    const { markup } = this.#options;
    const html = await markup.highlight(`/projects/${slug}`, path, lines.join("\n"));
    const parts = html?.split("\n") ?? null;
    return parts?.length === lines.length ? parts : null;
  }

  /** The HTML of several texts, in the same order. */
  async htmlOf(project: Project, texts: readonly ProjectText[]): Promise<string[]> {
    const { markup } = this.#options;
    const links = await this.#links(project, texts);
    const html: string[] = [];
    for (let start = 0; start < texts.length; start += AT_ONCE) {
      const some = texts.slice(start, start + AT_ONCE);
      html.push(...await Promise.all(some.map((text) => markup.render({ ...text, links }))));
    }
    return html;
  }

  async #links(project: Project, texts: readonly ProjectText[]): Promise<Links> {
    const base = `/projects/${project.slug}`;
    const found = new Set<string>();
    for (const { text } of texts) {
      for (const reference of referencesIn(text)) found.add(reference);
      // A long text takes a while; others have their turn before the next.
      if (text.length > LONG) await nextTurn();
    }
    const wanted = [...found];
    const references = wanted.filter((written) => !written.startsWith("@"));
    const numbered = await this.#options.numbers.named(
      project,
      references.filter((written) => written.startsWith("#")),
    );
    const names = [...new Set(references.map((written) => written.replace(/^#/, "")))];
    const { answers } = this.#options.repositories;
    const resolved: Reference[] = names.length === 0
      ? []
      : await answers.value(project, `references ${JSON.stringify(names)}`, async ({ json }) => {
        return { bytes: await json.references(names) };
      });
    const byName = new Map(resolved.map((reference) => [reference.name, reference]));
    const entries = references.flatMap((written): [string, string][] => {
      const ticket = numbered.get(written);
      if (ticket !== undefined) return [[written, `${base}/tickets/${ticket}`]];
      const reference = byName.get(written.replace(/^#/, ""));
      if (reference === undefined) return [];
      if (written.startsWith("#") && reference.kind !== "ticket") return [];
      return [[written, addressOf(base, reference)]];
    });
    const people = wanted.flatMap((written) =>
      written.startsWith("@") ? this.#person(written) : []
    );
    return { base, known: Object.fromEntries([...entries, ...people]) };
  }

  #person(mention: string): [string, string][] {
    const account = this.#options.accounts.find(mention.slice(1));
    if (account === null) return [];
    const name = encodeURIComponent(account.name);
    return [[mention, account.kind === "agent" ? `/agents/${name}` : `/people/${name}`]];
  }
}

function addressOf(base: string, { kind, target }: Reference): string {
  switch (kind) {
    case "wiki":
      return pageAddress(base, target);
    case "ticket":
      return `${base}/tickets/${target}`;
    case "checkin":
      return `${base}/checkin/${target}`;
  }
}
