import { awaitedReporters } from "../../../services/work/protection/mod.ts";
import { DEFINITION_PATH } from "../../../services/work/projects/mod.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { ButtonForm, Form, knownNames, TextField } from "../../parts/form.tsx";
import { isOpen, JobButtons, lookOfCheck, RunState } from "../../parts/runs.tsx";
import { Time } from "../../parts/time.tsx";
import { changesSince } from "./next_step.tsx";
import type { ReviewProps } from "./props.ts";

/** What each check says, and of those that a rule demands, whom it waits for. */
function ChecksOf(props: ReviewProps) {
  const { review: { required_checks }, checks, jobs, project: { base } } = props;
  const required = new Map(required_checks.map((check) => [check.context, check]));
  const awaited = required_checks.filter((one) =>
    checks.every(({ context }) => context !== one.context)
  );
  if (checks.length + awaited.length === 0) return null;
  const first = jobs.values().next().value;
  return (
    <section class="card" data-live-part="checks" data-live-on="status job">
      <h2>
        {first === undefined ? "Checks" : <a href={`${base}/runs/${first.run}`}>Checks</a>}
      </h2>
      <ul class="plain">
        {checks.map((check) => (
          <Check {...props} check={check} demand={required.get(check.context)} />
        ))}
        {awaited.map((demand) => (
          <li>
            <span class="badge warn">required</span> {demand.context} <Awaited demand={demand} />
          </li>
        ))}
      </ul>
      {jobs.values().some(({ counts }) =>
        !counts
      ) && (
        <p class="hint">
          This review changes{" "}
          {DEFINITION_PATH}. Its checks run as the target branch defines them; those “as changed” do
          not count. A person must approve the change.
        </p>
      )}
    </section>
  );
}

function Check({ visit, project, jobs, check, demand }: ReviewProps & {
  readonly check: ReviewProps["checks"][number];
  readonly demand: Demand | undefined;
}) {
  const { context, state, description, target_url, reporter } = check;
  const job = jobs.get(context);
  const waits = job?.waits_for ?? null;
  return (
    <li>
      {job === undefined
        ? <span class={`badge ${lookOfCheck(state)}`}>{state}</span>
        : <RunState state={job.state} />} {job !== undefined
        ? <a href={`${project.base}/jobs/${job.id}`}>{context}</a>
        : target_url === ""
        ? context
        : <a href={target_url} rel="noreferrer nofollow">{context}</a>}{" "}
      <span class="soft small">
        {waits === null ? `${description} (by ${reporter})` : `Waits for ${waits}.`}
      </span>
      {demand?.uncounted.includes(reporter) && <Uncounted demand={demand} />}
      {job !== undefined && !isOpen(job) && job.state !== "success" && (
        <div class="suggested row">
          <JobButtons {...{ visit, project, job }} />
        </div>
      )}
      {job !== undefined && job.lastLines.length > 0 && (
        <details class="more">
          <summary>Last lines of {context}</summary>
          <pre class="last-lines" tabindex={0}>{job.lastLines.join("\n")}</pre>
        </details>
      )}
    </li>
  );
}

type Demand = ReviewProps["review"]["required_checks"][number];

function Uncounted({ demand }: { readonly demand: Demand }) {
  return (
    <>
      {" "}
      <span class="badge warn">does not count</span> {demand.reporter === null
        ? <Awaited demand={demand} />
        : <span class="soft small">{demand.reporter} reported {demand.state}.</span>}
    </>
  );
}

function Awaited({ demand: { reporters } }: { readonly demand: Demand }) {
  return <span class="soft small">Waits for {awaitedReporters(reporters)}.</span>;
}

/** Reviewers, checks and rounds, and what can be done with the review. */
export function Sidebar(props: ReviewProps) {
  const { project, review } = props;
  const isOpen = review.status !== "merged" && review.status !== "closed";
  return (
    <aside aria-label="About this review">
      <Reviewers {...props} isOpen={isOpen} />
      <ChecksOf {...props} />
      <Rounds {...props} />
      <div data-live-part="endings" data-live-on="review landing">
        {project.mayWrite && isOpen && <Endings {...props} />}
      </div>
    </aside>
  );
}

function Reviewers({ visit, project, review, isOpen }: ReviewProps & { readonly isOpen: boolean }) {
  const given = new Map(review.verdicts.map((verdict) => [verdict.agent_id, verdict]));
  const names = [...new Set([...given.keys(), ...review.reviewers])];
  return (
    <section class="card" data-live-part="reviewers" data-live-on="review">
      <h2>Reviewers</h2>
      {names.length === 0 && <p class="soft">Nobody was asked.</p>}
      <ul class="plain">
        {names.map((name) => {
          const verdict = given.get(name);
          return (
            <li class="row">
              <AccountName {...{ visit, project, name }} />
              {verdict === undefined
                ? <span class="badge">awaited</span>
                : verdict.verdict === "approved"
                ? <span class="badge good">approved</span>
                : <span class="badge warn">changes requested</span>}
              {verdict === undefined && project.mayWrite && isOpen && (
                <ButtonForm
                  visit={visit}
                  action="drop"
                  values={{ name }}
                  label={
                    <>
                      Withdraw<span class="hidden-text">the request to {name}</span>
                    </>
                  }
                />
              )}
            </li>
          );
        })}
      </ul>
      {project.mayWrite && isOpen && (
        <details class="more" open={visit.form.get("action") === "ask"}>
          <summary>Ask for a verdict</summary>
          <Suggested {...{ visit, project, review, asked: names }} />
          <Form visit={visit} action="ask" label="Ask for a verdict">
            <TextField
              visit={visit}
              name="reviewers"
              label="Names"
              hint="With commas between them."
              names={knownNames.accounts(visit)}
              isList
              required
            />
            <button type="submit">Ask</button>
          </Form>
        </details>
      )}
    </section>
  );
}

/** Members that a button asks. */
const SUGGESTED = 8;

/** Members who may give a verdict and were not asked: a click asks them. */
function Suggested({ visit, project, review, asked }:
  & Pick<
    ReviewProps,
    "visit" | "project" | "review"
  >
  & { readonly asked: readonly string[] }) {
  const { accounts } = visit.services;
  const names = [...project.access.held.members].flatMap(([id, role]) => {
    const account = role === "read" ? undefined : accounts.get(id);
    if (account === undefined || account === null || account.revokedAt !== null) return [];
    const { name } = account;
    return name === review.agent_id || asked.includes(name) ? [] : [name];
  });
  if (names.length === 0) return null;
  return (
    <div class="row suggested">
      {names.slice(0, SUGGESTED).map((name) => (
        <ButtonForm
          key={name}
          visit={visit}
          action="ask"
          values={{ reviewers: name }}
          label={
            <>
              <span class="hidden-text">Ask</span> {name}
            </>
          }
        />
      ))}
    </div>
  );
}

function Rounds({ visit, review: { rounds }, project: { base } }: ReviewProps) {
  if (rounds.length === 0) return null;
  return (
    <section class="card" data-live-part="rounds" data-live-on="review">
      <h2>Rounds</h2>
      <ol class="plain">
        {rounds.toReversed().map(({ round, tip, started_at }) => (
          <li>
            <b>{round}</b> <a class="mono" href={`${base}/checkin/${tip}`}>{tip.slice(0, 10)}</a>
            {" "}
            <span class="soft small">
              <Time at={started_at} />
            </span>
            {round > 1 && (
              <>
                {" "}
                <a class="small" href={changesSince(visit, round - 1)}>
                  changes since round {round - 1}
                </a>
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Endings({ visit, review, landing }: ReviewProps) {
  const isQueued = landing?.status === "queued" || landing?.status === "testing";
  const isApproved = review.status === "approved";
  return (
    <section class="card">
      <h2>{isApproved ? "Finish" : "Close"}</h2>
      <div class="row">
        {isApproved && !isQueued && (
          <ButtonForm visit={visit} action="land" label="Land" look="primary" />
        )}
        {isApproved && !isQueued && <ButtonForm visit={visit} action="merge" label="Merge now" />}
        {isQueued && (
          <ButtonForm
            visit={visit}
            action="withdraw"
            label="Take it out of the queue"
          />
        )}
        <ButtonForm visit={visit} action="close" label="Close without a merge" look="danger" />
      </div>
      {isApproved && !isQueued && (
        <p class="hint below-buttons">
          Landing tests the merge with the changes before it in the queue. Merging does it at once.
        </p>
      )}
    </section>
  );
}
