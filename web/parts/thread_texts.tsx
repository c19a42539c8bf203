/** The texts of a thread, as many as a page shows at once. */
import type { ProjectText } from "../../services/work/texts/mod.ts";
import type { OpenProject } from "../project.ts";
import type { Visit } from "../visit.ts";
import { Prose, type ProseOptions } from "./prose.tsx";

/** Characters that a page shows of a thread; a text beyond them has a page of its own. */
const MAX_SHOWN = 100_000;

/** Longest text that is shown on its own page, in characters: the rest is in the API. */
const MAX_ALONE = 100_000;

/** A text of a thread. */
export interface ThreadText {
  /** Null if the page has no room for it. */
  readonly html: string | null;
  /** In characters. */
  readonly length: number;
}

/** Renders the texts that a page has room for, in their order. A single text always has room. */
export async function threadTexts(
  { services: { hosting: { texts } } }: Visit,
  { access: { project } }: Pick<OpenProject, "access">,
  sources: readonly ProjectText[],
): Promise<readonly ThreadText[]> {
  let left = sources.length === 1 ? Infinity : MAX_SHOWN;
  const shown = sources.filter(({ text }) => (left -= text.length) >= 0)
    .map(({ text, mimetype }) => ({ text: text.slice(0, MAX_ALONE), mimetype }));
  const html = await texts.htmlOf(project, shown);
  return sources.map(({ text: { length } }, index) => ({ html: html[index] ?? null, length }));
}

/**
 * A text of a thread, or the way to it.
 *
 * @param alone the page that shows it without the others
 */
export function ThreadProse({ text, alone, ...options }: ProseOptions & {
  readonly text: ThreadText | undefined;
  readonly alone: string;
}) {
  if (text === undefined) return null;
  const { html, length } = text;
  const size = `${length.toLocaleString("en")} characters`;
  if (html === null) {
    return (
      <p>
        <a href={alone}>Show this text of {size}</a>
      </p>
    );
  }
  return (
    <>
      <Prose {...options} html={html} />
      {length > MAX_ALONE && <p class="soft">The text goes on: it has {size}.</p>}
    </>
  );
}
