import type { z } from "zod";
import { shownText } from "../../../services/engines/fossil/front/mod.ts";
import { getCheckinStatus } from "../../../services/work/checks/operations.ts";
import type { CheckinStatus } from "../../../services/work/checks/schemas.ts";
import { getCheckin } from "../../../services/work/code/operations.ts";
import type { checkinDetailSchema } from "../../../services/work/code/schemas.ts";
import { definePage, type View } from "../../page.ts";
import { DiffPart, layoutOf, patchOf, readDiff } from "../../parts/diff_page.tsx";
import { CheckinLink, firstLine } from "../../parts/files.tsx";
import { PublicHead } from "../../parts/public_head.tsx";
import { SignatureFact } from "../../parts/signature.tsx";
import { TicketLinks, ticketsNamed } from "../../parts/ticket_links.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { BranchPurpose } from "../../parts/work_badges.tsx";
import { type Visit, withQuery } from "../../visit.ts";

/** A check-in: its message, where it stands, and what it changes. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => `/api/checkin/${encodeURIComponent(visit.param("uuid"))}`,
});

type Detail = z.output<typeof checkinDetailSchema>;

/** Most other check-ins that are named. */
const MAX_NAMED = 20;

async function show(visit: Visit): Promise<View | Response> {
  const project = new CodeProject(visit);
  const name = visit.param("uuid");
  if (visit.query("format") === "patch") return await patchOf(project, { to: name });
  const [detail, diff, status] = await Promise.all([
    project.invoke(getCheckin, { uuid: name, max_files: 0 }),
    readDiff(project, { to: name }),
    project.invoke(getCheckinStatus, { checkin: name }),
  ]);
  const tickets = await ticketsNamed(visit, project.open, detail.comment);
  const body = (
    <>
      <CheckinHead {...{ project, detail, status, tickets }} />
      <DiffPart
        project={project}
        diff={diff}
        layout={layoutOf(visit)}
        before={detail.parents[0] ?? ""}
        after={detail.uuid}
      />
    </>
  );
  return {
    title: `${firstLine(detail.comment).slice(0, 80)} · ${detail.uuid.slice(0, 10)}`,
    body,
    project: project.place("timeline"),
    head: <PublicHead project={project} title={firstLine(detail.comment).slice(0, 120)} />,
  };
}

interface HeadProps {
  readonly project: CodeProject;
  readonly detail: Detail;
  readonly status: CheckinStatus;
  /** The addresses of the tickets that its message names. */
  readonly tickets: ReadonlyMap<string, string>;
}

function CheckinHead({ project, detail, status, tickets }: HeadProps) {
  const { to } = project;
  const { uuid, comment, user, timestamp, branch, tags } = detail;
  const title = firstLine(comment);
  const rest = comment.trim().slice(title.length).trim();
  return (
    <section class="card checkin-head">
      <h1>
        <TicketLinks text={title} tickets={tickets} />
      </h1>
      {rest !== "" && (
        <pre class="message-text" tabindex={0}><TicketLinks text={rest} tickets={tickets} /></pre>
      )}
      <p class="soft">
        <a class="plain-link" href={to.at("/timeline", { user })}>{user}</a>,{" "}
        <Time at={timestamp} />
        {" ("}
        {timestamp.slice(0, 16).replace("T", " ")} UTC{") on "}
        <a href={to.at("/timeline", { branch })}>{shownText(branch, "name")}</a>{" "}
        <BranchPurpose to={to} name={branch} />
        {tags.map((tag) => (
          <>
            {" "}
            <span class="badge accent">{shownText(tag, "name")}</span>
          </>
        ))}
        {detail.is_closed && (
          <>
            {" "}
            <span class="badge">closed</span>
          </>
        )}
        {detail.is_merge && (
          <>
            {" "}
            <span class="badge">merge</span>
          </>
        )}
      </p>
      <dl class="checkin-facts">
        <div>
          <dt>Check-in</dt>
          <dd class="row">
            <span class="mono">{uuid}</span>
            <button type="button" class="copy-small" data-copy={uuid}>
              Copy<span class="hidden-text">the hash</span>
            </button>
          </dd>
        </div>
        <SignatureFact visit={project.visit} project={project} signature={detail.signature} />
        <Others {...{ project }} words="Parents" uuids={detail.parents} />
        <Others {...{ project }} words="Children" uuids={detail.children} />
        <Others
          {...{ project }}
          words="Picked from"
          uuids={detail.cherrypicks.filter(({ backout }) => !backout).map((pick) => pick.uuid)}
        />
        <Others
          {...{ project }}
          words="Backs out"
          uuids={detail.cherrypicks.filter(({ backout }) => backout).map((pick) => pick.uuid)}
        />
        <Checks status={status} />
      </dl>
      <p class="file-actions">
        <a href={to.tree(uuid)}>Files</a>
        <a href={to.archive(uuid, "zip")}>.zip</a>
        <a href={to.archive(uuid, "tar.gz")}>.tar.gz</a>
        <a href={withQuery(to.checkin(uuid), { format: "patch" })}>Patch</a>
        <a href={to.at("/timeline", { before: uuid, branch })}>Earlier on {branch}</a>
      </p>
    </section>
  );
}

function Others({ project, words, uuids }: {
  readonly project: CodeProject;
  readonly words: string;
  readonly uuids: readonly string[];
}) {
  if (uuids.length === 0) return null;
  return (
    <div>
      <dt>{words}</dt>
      <dd>
        {uuids.slice(0, MAX_NAMED).map((uuid) => (
          <>
            <CheckinLink to={project.to} uuid={uuid} />
            {" "}
          </>
        ))}
        {uuids.length > MAX_NAMED && `and ${uuids.length - MAX_NAMED} more`}
      </dd>
    </div>
  );
}

const LOOKS: Readonly<Record<string, string>> = {
  success: "good",
  failure: "bad",
  error: "bad",
  pending: "warn",
};

function Checks({ status }: { readonly status: CheckinStatus }) {
  if (status.checks.length === 0) return null;
  return (
    <div>
      <dt>Checks</dt>
      <dd>
        <ul class="checks">
          {status.checks.map(({ context, state, description, target_url }) => (
            <li>
              <span class={`badge ${LOOKS[state] ?? ""}`}>{state}</span>{" "}
              {/^https?:\/\//i.test(target_url)
                ? <a href={target_url} rel="nofollow noopener noreferrer">{context}</a>
                : context} {description !== "" && <span class="soft">{description}</span>}
            </li>
          ))}
        </ul>
      </dd>
    </div>
  );
}
