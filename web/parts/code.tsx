/** Lines of code with their numbers. */
import { raw } from "hono/html";
import type { z } from "zod";
import type { fileLinesSchema } from "../../services/work/code/schemas.ts";
import type { CodeProject } from "../code_project.ts";
import { type Visit, withQuery } from "../visit.ts";
import { Slices } from "./slices.tsx";

/** How long a page waits for the syntax of its code, in milliseconds. */
const PATIENCE_MS = 25;

/** The query parameter of a script that waits until the syntax is there. */
const WAIT_PARAMETER = "wait";

/** The lines of a file, each as HTML, if they are ready. */
export interface Highlighted {
  /** Null if the lines are shown as plain text. */
  readonly html: readonly string[] | null;
  /** Whether the HTML comes later: the page's script asks for it again. */
  readonly isPending: boolean;
}

/** The lines of a file with their syntax. The first request for long code gets it as plain text. */
export async function highlightFile(
  { visit, access }: CodeProject,
  file: { readonly path: string; readonly lines: readonly string[] },
): Promise<Highlighted> {
  const making = visit.services.hosting.texts.highlight(access.project, file)
    .then((html): Highlighted => ({ html, isPending: false }));
  if (visit.query(WAIT_PARAMETER) !== undefined) return await making;
  const { promise: late, resolve } = Promise.withResolvers<Highlighted>();
  const timer = setTimeout(() => resolve({ html: null, isPending: true }), PATIENCE_MS);
  try {
    return await Promise.race([making, late]);
  } finally {
    clearTimeout(timer);
  }
}

type FileLines = z.output<typeof fileLinesSchema>;

/** A number of bytes as people read it. */
export function sizeOf(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB"];
  let [size, unit] = [bytes, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit === 0 ? size : size.toFixed(1)} ${bytes === 1 ? "byte" : units[unit]}`;
}

/**
 * Lines of a file, each with the anchor `L` and its number.
 *
 * @param highlighted from `highlightFile`, whose HTML is safe to show
 */
export async function CodeLines({ file, highlighted: { html, isPending } }: {
  readonly file: FileLines;
  readonly highlighted: Highlighted;
}) {
  const cut = new Set(file.cut_lines);
  const rows = await new Slices().render(file.lines, (text, index) => {
    const number = file.first + index;
    return (
      <tr id={`L${number}`}>
        <td class="num">
          <LineNumber number={number} />
        </td>
        <td class="code">
          {html === null ? text : raw(html[index] ?? "")}
          {cut.has(number) && <em class="soft">… the line goes on</em>}
        </td>
      </tr>
    );
  });
  return (
    <div class="code-scroll" tabindex={0} role="region" aria-label={`Lines of ${file.path}`}>
      <table class="code-lines" data-lines data-late-syntax={isPending || undefined}>
        <tbody>{rows}</tbody>
      </table>
    </div>
  );
}

/** The number of a line, which links to it. The keyboard goes there by the field "Line". */
export function LineNumber({ number }: { readonly number: number }) {
  return <a href={`#L${number}`} data-n={number} aria-label={`Line ${number}`} tabindex={-1}></a>;
}

/** A field that leads to a line. */
export function GoToLine() {
  return (
    <form class="go-to-line">
      <label for="line">Line</label>
      <input id="line" name="line" type="number" min={1} inputmode="numeric" />
      <button type="submit">Go</button>
    </form>
  );
}

/** Links to the parts of a long file. */
export function LinePager({ visit, file, count }: {
  readonly visit: Visit;
  readonly file: Pick<FileLines, "first" | "lines" | "total_lines">;
  /** Lines of a part. */
  readonly count: number;
}) {
  const { first, lines, total_lines: total } = file;
  const end = first + lines.length - 1;
  if (first === 1 && end >= total) return null;
  const to = (line: number) =>
    withQuery(visit.url.pathname, {
      ...Object.fromEntries(visit.url.searchParams),
      first: line,
    });
  return (
    <nav class="pager" aria-label="Parts of the file">
      {first > 1 ? <a href={to(Math.max(1, first - count))} rel="prev">Lines before</a> : <span />}
      <span class="soft">
        Lines {first.toLocaleString("en")} to {end.toLocaleString("en")} of{" "}
        {total.toLocaleString("en")}
      </span>
      {end < total ? <a href={to(end + 1)} rel="next">Lines after</a> : <span />}
    </nav>
  );
}
