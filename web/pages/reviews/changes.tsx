import type { z } from "zod";
import { getReviewDiff } from "../../../services/work/reviews/operations.ts";
import type { roundDiffSchema } from "../../../services/work/reviews/schemas.ts";
import {
  anchorOf,
  Diff,
  type DiffFile,
  LineCounts,
  LINES_OF_PART,
  partsOf,
} from "../../parts/diff.tsx";
import type { DiffSide } from "../../parts/diff_rows.ts";
import { layoutOf, LayoutSwitch, WhitespaceSwitch } from "../../parts/diff_page.tsx";
import { linkWith } from "../../parts/filters.tsx";
import { Form, TextArea } from "../../parts/form.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { PlainDiff } from "../../parts/plain_diff.tsx";
import { ProjectAddresses } from "../../addresses.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { threadTexts } from "../../parts/thread_texts.tsx";
import { CommentCard, textOf } from "./conversation.tsx";
import type { Review, ReviewProps } from "./props.ts";

type RoundDiff = z.output<typeof roundDiffSchema>;
type Comment = Review["comments"][number];

/** Files of a page. */
const FILES = 25;

/** A line of the changes: on which side, and in which file. */
interface LinePlace {
  readonly file: string;
  readonly side: DiffSide;
  readonly line: number;
}

/** The changes of a review between two rounds, with the comments on their lines. */
export async function showChanges(props: ReviewProps) {
  const { visit, project, review } = props;
  if (review.rounds.length === 0) return <SentDiff diff={review.diff} />;
  const path = visit.query("file");
  const diff = await visit.invoke(project.slug, getReviewDiff, {
    id: review.id,
    from: visit.query("from") ?? 0,
    to: visit.query("to"),
    path,
    whitespace: visit.query("whitespace") === "ignore" ? "ignore" : undefined,
    page: path === undefined ? visit.pageNumber : 1,
    per_page: FILES,
  });
  const addresses = new ProjectAddresses(project.slug, visit.services.config.projects.scm);
  const single = path === undefined ? undefined : diff.files.find(({ name }) => name === path);
  const pages = single === undefined ? Math.ceil(diff.total / FILES) : partsOf(single);
  const below = await belowOf({ ...props, diff });
  return (
    <>
      <RoundChoice visit={visit} review={review} diff={diff} />
      <FileList
        diff={diff}
        isSingle={single !== undefined}
        visit={visit}
        isHinted={mayComment(props, diff)}
      />
      {diff.files.length === 0 ? <Empty>The two rounds have the same files.</Empty> : (
        <Diff
          files={diff.files}
          layout={layoutOf(visit)}
          aloneAt={(file) => linkWith(visit, { file: file.name })}
          links={(file) => <FileLinks project={project} file={file} checkin={diff.to.checkin} />}
          linesAt={({ name }) => addresses.lines(diff.to.checkin, name)}
          viewed={`${project.slug}/${review.id}`}
          below={below}
          {...(single !== undefined ? { part: visit.pageNumber } : {})}
          {...(mayComment(props, diff) ? { to: lineLinks(visit) } : {})}
        />
      )}
      <Pager visit={visit} page={visit.pageNumber} pages={pages} />
    </>
  );
}

/** A diff that the author sent; it belongs to no check-in. */
function SentDiff({ diff }: { readonly diff: string }) {
  if (diff === "") return <Empty>The review has no diff.</Empty>;
  return <PlainDiff diff={diff} label="Changes" />;
}

function RoundChoice({ visit, review, diff }: {
  readonly visit: Visit;
  readonly review: Review;
  readonly diff: RoundDiff;
}) {
  const rounds = review.rounds.map(({ round }) => round);
  const layout = layoutOf(visit);
  return (
    <div class="list-tools">
      {rounds.length > 1 && (
        <form method="get" action={visit.url.pathname} class="list-filters" aria-label="Rounds">
          <input type="hidden" name="view" value="changes" />
          {layout === "split" && <input type="hidden" name="layout" value="split" />}
          <label class="row">
            From
            <select name="from">
              {[0, ...rounds.slice(0, -1)].map((round) => (
                <option value={String(round)} selected={round === diff.from.round}>
                  {round === 0 ? "the base" : `round ${round}`}
                </option>
              ))}
            </select>
          </label>
          <label class="row">
            to
            <select name="to">
              {rounds.map((round) => (
                <option value={String(round)} selected={round === diff.to.round}>
                  round {round}
                </option>
              ))}
            </select>
          </label>
          <button type="submit">Show</button>
        </form>
      )}
      <LayoutSwitch visit={visit} layout={layout} />
      <WhitespaceSwitch visit={visit} />
    </div>
  );
}

function FileList({ diff: { files, total }, isSingle, visit, isHinted }: {
  readonly diff: RoundDiff;
  readonly isSingle: boolean;
  readonly visit: Visit;
  /** Whether lines can be commented on. */
  readonly isHinted: boolean;
}) {
  const lines = (side: "added" | "deleted") => files.reduce((sum, file) => sum + file[side], 0);
  return (
    <div class="changes-head">
      <p class="meta">
        <span>{total} {total === 1 ? "file" : "files"}</span>
        {total === files.length && <LineCounts added={lines("added")} deleted={lines("deleted")} />}
        {isSingle && <a href={linkWith(visit, { file: undefined })}>All files</a>}
        {isSingle && <span>{LINES_OF_PART} lines per page</span>}
        <span class="viewed-count" />
        {isHinted && <span>Click the number of a line to comment on it.</span>}
      </p>
      {files.length > 1 && (
        <details class="more">
          <summary>Jump to a file</summary>
          <ul class="plain small">
            {files.map((file) => (
              <li>
                <a class="mono" href={`#${encodeURI(anchorOf(file.name))}`}>{file.name}</a>{" "}
                <LineCounts {...file} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function FileLinks({ project, file, checkin }: {
  readonly project: ReviewProps["project"];
  readonly file: DiffFile;
  readonly checkin: string;
}) {
  if (file.uuid === null) return null;
  const path = file.name.split("/").map(encodeURIComponent).join("/");
  return <a href={`${project.base}/file/${checkin}/${path}`}>View file</a>;
}

/** Whether lines can be commented on: those of the newest round. */
function mayComment({ project, review }: ReviewProps, diff: RoundDiff): boolean {
  return project.mayWrite && diff.to.round === review.round;
}

/** The links of the numbers of lines: they open the form for a comment, whose field has the focus. */
function lineLinks(visit: Visit) {
  const page = withQuery("?", { ...Object.fromEntries(visit.url.searchParams), at: undefined })
    .slice(1);
  return (file: string, side: DiffSide, line: number) =>
    `${page}&at=${side}%3A${line}%3A${encodeURIComponent(file.toWellFormed())}#comment`;
}

/** What stands below a line: its comments, and the form for another one. */
async function belowOf(props: ReviewProps & { readonly diff: RoundDiff }) {
  const { visit, project, review, diff } = props;
  const at = mayComment(props, diff) ? placeIn(visit.query("at")) : null;
  const shown = new Set(diff.files.map(({ name }) => name));
  const placed = review.comments.flatMap((comment) => {
    const place = placeOf(comment, diff, review);
    return place !== null && shown.has(place.file) ? [{ comment, key: keyOf(place) }] : [];
  });
  const texts = await threadTexts(visit, project, placed.map(({ comment }) => textOf(comment)));
  const comments = Map.groupBy(
    placed.map(({ comment, key }, index) => ({ comment, key, text: texts[index] })),
    ({ key }) => key,
  );
  return (file: string, side: DiffSide, line: number) => {
    const found = comments.get(keyOf({ file, side, line })) ?? [];
    const isAt = at !== null && at.file === file && at.side === side && at.line === line;
    if (found.length === 0 && !isAt) return null;
    return (
      <div class="line-comments" id={isAt ? "at" : undefined}>
        {found.map((one) => (
          <CommentCard
            key={one.comment.id}
            id={`comment-${one.comment.id}`}
            {...{ visit, project }}
            comment={one.comment}
            text={one.text}
          />
        ))}
        {isAt
          ? <LineForm visit={visit} place={at} isReply={found.length > 0} />
          : mayComment(props, diff) && (
            <a class="small" href={lineLinks(visit)(file, side, line)}>Reply</a>
          )}
      </div>
    );
  };
}

function keyOf({ file, side, line }: LinePlace): string {
  return `${side}:${line}:${file}`;
}

/** Where a comment stands in the shown changes; null if its line is not there. */
function placeOf(comment: Comment, { to }: RoundDiff, { round }: Review): LinePlace | null {
  const { file_path, line_number, current, side } = comment;
  if (to.round === round) {
    return current === null
      ? null
      : { file: current.file_path, side: side ?? "new", line: current.line_number };
  }
  if (comment.round !== to.round || line_number === null) return null;
  return { file: file_path, side: side ?? "new", line: line_number };
}

function placeIn(text = ""): LinePlace | null {
  const [, side = "", line = "", file = ""] = /^(old|new):(\d{1,8}):(.+)$/s.exec(text) ?? [];
  return side === "old" || side === "new" ? { file, side, line: Number(line) } : null;
}

function LineForm({ visit, place, isReply }: {
  readonly visit: Visit;
  readonly place: LinePlace;
  readonly isReply: boolean;
}) {
  return (
    <Form visit={visit} action="comment" class="wide prose-form">
      <input type="hidden" name="file" value={place.file} />
      <input type="hidden" name="side" value={place.side} />
      <input type="hidden" name="line" value={String(place.line)} />
      <TextArea
        visit={visit}
        name="comment"
        label={`${isReply ? "Reply" : "Comment"} on line ${place.line}`}
        rows={3}
        hint="Markdown"
        required
      />
      <div class="row">
        <button class="primary" type="submit">{isReply ? "Reply" : "Comment"}</button>
        <a class="button" href={linkWith(visit, { at: undefined })}>Cancel</a>
      </div>
    </Form>
  );
}
