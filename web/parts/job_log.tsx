/** The lines of a job's log, folded by command. `web/elements/log.ts` draws what comes later. */
import type { Child } from "hono/jsx";
import type { NumberedLine } from "../../services/work/runs/mod.ts";
import { lengthOf, type Piece, piecesOf } from "../elements/log_lines.ts";
import { LineNumber } from "./code.tsx";
import { Slices } from "./slices.tsx";

/** Most lines of a page, and most characters. */
export const LINES_OF_PAGE = 150;
const CHARACTERS_OF_PAGE = 20_000;

/**
 * The lines that fit on a page, at least one.
 *
 * @param fromEnd whether the last ones are kept
 */
export function fitting(lines: readonly NumberedLine[], fromEnd: boolean): readonly NumberedLine[] {
  let characters = 0;
  const fits = ({ text }: NumberedLine) => (characters += text.length) <= CHARACTERS_OF_PAGE;
  if (!fromEnd) {
    const end = lines.findIndex((line) => !fits(line));
    return end < 0 ? lines : lines.slice(0, Math.max(1, end));
  }
  const start = lines.findLastIndex((line) => !fits(line));
  return lines.slice(Math.min(start + 1, lines.length - 1));
}

/** Lines of one command, which stands before them. */
interface Part {
  /** Null if its beginning is not on the page, or no command has begun. */
  readonly command: NumberedLine | null;
  readonly lines: NumberedLine[];
}

/** Lines by their commands. */
function partsOf(lines: readonly NumberedLine[]): readonly Part[] {
  const parts: Part[] = [];
  for (const line of lines) {
    if (line.stream === "command") parts.push({ command: line, lines: [] });
    else {
      if (parts.length === 0) parts.push({ command: null, lines: [] });
      parts.at(-1)?.lines.push(line);
    }
  }
  return parts;
}

/** The lines of a log, each with the anchor `L` and its number. */
export async function LogLines({ lines }: { readonly lines: readonly NumberedLine[] }) {
  const parts = partsOf(lines);
  const slices = new Slices();
  const shown: Child[] = [];
  for (const [place, { command, lines: own }] of parts.entries()) {
    const rows = await slices.render(own, (line) => <Line line={line} />);
    const table = own.length === 0 ? null : (
      <table class="code-lines">
        <tbody>{rows}</tbody>
      </table>
    );
    const next = parts[place + 1]?.command?.at;
    shown.push(
      command === null ? <div class="log-part">{table}</div> : (
        <details class="log-part" open>
          <Command line={command} took={next === undefined ? null : next - command.at} />
          {table}
        </details>
      ),
    );
  }
  return <>{shown}</>;
}

function Command({ line: { number, at, text }, took }: {
  readonly line: NumberedLine;
  /** Milliseconds; null if it has not ended. */
  readonly took: number | null;
}) {
  return (
    <summary id={`L${number}`} data-at={at}>
      <span class="num" data-n={number}></span>
      <code>{pieces(text)}</code>
      {took !== null && <span class="soft small">{lengthOf(took)}</span>}
    </summary>
  );
}

function Line({ line: { number, at, stream, text } }: { readonly line: NumberedLine }) {
  return (
    <tr id={`L${number}`} class={stream === "note" ? "note" : undefined}>
      <td class="num" title={lengthOf(at)}>
        <LineNumber number={number} />
      </td>
      <td class="code">{pieces(text)}</td>
    </tr>
  );
}

function pieces(text: string): Child[] {
  return piecesOf(text).map(({ text, look }: Piece) =>
    look === "" ? text : <span class={look}>{text}</span>
  );
}
