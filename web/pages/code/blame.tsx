import { raw } from "hono/html";
import type { z } from "zod";
import { getBlame } from "../../../services/work/code/operations.ts";
import type { blameSchema } from "../../../services/work/code/schemas.ts";
import { definePage, type View } from "../../page.ts";
import {
  GoToLine,
  type Highlighted,
  highlightFile,
  LineNumber,
  LinePager,
} from "../../parts/code.tsx";
import { PathLinks, readNames, shortName, Switcher } from "../../parts/files.tsx";
import { Slices } from "../../parts/slices.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { numberIn } from "./file.tsx";
import { placeOf } from "./tree.tsx";

/** Who last changed each line of a file. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => withQuery("/api/blame", placeOf(visit)),
});

const LINES_OF_PAGE = 500;

type Blame = z.output<typeof blameSchema>;
type BlameLine = Blame["lines"][number];

async function show(visit: Visit): Promise<View | Response> {
  const project = new CodeProject(visit);
  const { checkin, path } = placeOf(visit);
  const { to } = project;
  const line = numberIn(visit, "line");
  if (line > 0) {
    const first = Math.floor((line - 1) / LINES_OF_PAGE) * LINES_OF_PAGE + 1;
    return visit.context.redirect(`${withQuery(to.blame(checkin, path), { first })}#L${line}`, 303);
  }
  const [blame, names] = await Promise.all([
    project.invoke(getBlame, { checkin, path }),
    readNames(project, checkin),
  ]);
  const total = blame.lines.length;
  const first = Math.min(Math.max(1, numberIn(visit, "first")), Math.max(1, total));
  const lines = blame.lines.slice(first - 1, first - 1 + LINES_OF_PAGE);
  const texts = lines.map(({ text }) => text);
  const highlighted = await highlightFile(project, { path, lines: texts });
  const span = spanOf(blame.lines);
  const body = (
    <>
      <h1 class="hidden-text">Blame of {path}</h1>
      <div class="file-bar">
        <Switcher {...{ project, checkin, names }} link={(name) => to.blame(name, path)} />
        <PathLinks {...{ project, checkin, path }} />
      </div>
      <section class="file-box" aria-label={path}>
        <div class="file-actions">
          <span class="soft small">
            {total === 1 ? "1 line" : `${total.toLocaleString("en")} lines`}
          </span>
          <GoToLine />
          <a href={to.file(checkin, path)}>File</a>
          <a href={to.history(path, checkin)}>History</a>
        </div>
        <BlameLines {...{ project, lines, highlighted, path, span }} />
      </section>
      <LinePager
        visit={visit}
        file={{ first, lines: texts, total_lines: total }}
        count={LINES_OF_PAGE}
      />
    </>
  );
  return {
    title: `Blame of ${path} at ${shortName(checkin)} · ${project.view.name}`,
    body,
    project: project.place("code"),
  };
}

/** How many ages of lines are told apart. */
const AGES = 5;

/** The time of the oldest and of the newest line of a file, in Unix milliseconds. */
interface Span {
  readonly oldest: number;
  readonly newest: number;
}

function spanOf(lines: readonly BlameLine[]): Span {
  const times = lines.map(({ timestamp }) => Date.parse(timestamp));
  return times.reduce(({ oldest, newest }, time) => {
    return { oldest: Math.min(oldest, time), newest: Math.max(newest, time) };
  }, { oldest: Infinity, newest: -Infinity });
}

/** How old a line is among those of its file, in steps from 0, the newest. */
function ageOf({ timestamp }: BlameLine, { oldest, newest }: Span): number {
  const share = (newest - Date.parse(timestamp)) / Math.max(1, newest - oldest);
  return Math.min(AGES - 1, Math.floor(share * AGES));
}

async function BlameLines({ project, lines, highlighted: { html, isPending }, path, span }: {
  readonly project: CodeProject;
  readonly lines: readonly BlameLine[];
  readonly highlighted: Highlighted;
  readonly path: string;
  readonly span: Span;
}) {
  const rows = await new Slices().render(lines, (line, index) => {
    const isFirst = lines[index - 1]?.uuid !== line.uuid;
    const age = `age-${ageOf(line, span)}`;
    return (
      <tr id={`L${line.number}`} class={isFirst ? `first ${age}` : age}>
        <td class="origin">
          {isFirst && line.uuid !== "" && (
            <>
              <a href={project.to.checkin(line.uuid)} title={line.user}>
                <span class="mono origin-hash">{`${shortName(line.uuid)} `}</span>
                <span class="origin-user">{line.user}</span>
              </a>{" "}
              <Time at={line.timestamp} />
            </>
          )}
        </td>
        <td class="num">
          <LineNumber number={line.number} />
        </td>
        <td class="code">{html === null ? line.text : raw(html[index] ?? "")}</td>
      </tr>
    );
  });
  return (
    <div class="code-scroll" tabindex={0} role="region" aria-label={`Lines of ${path}`}>
      <table class="code-lines blame" data-lines data-late-syntax={isPending || undefined}>
        <tbody>{rows}</tbody>
      </table>
    </div>
  );
}
