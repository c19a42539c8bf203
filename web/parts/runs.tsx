/** Runs of checks and their jobs, as pages show them. */
import type { Child } from "hono/jsx";
import type { CheckState } from "../../services/work/checks/schemas.ts";
import type { JobView, RunView } from "../../services/work/runs/schemas.ts";
import type { ProjectAddresses } from "../addresses.ts";
import { lengthOf } from "../elements/log_lines.ts";
import type { OpenProject } from "../project.ts";
import type { Visit } from "../visit.ts";
import { ButtonForm } from "./form.tsx";

/** The words and the look of each state of a job or a run. */
const STATES: Readonly<Record<JobView["state"] | RunView["state"], readonly [string, string]>> = {
  waiting: ["waiting", ""],
  queued: ["queued", "warn"],
  running: ["running", "accent"],
  success: ["passed", "good"],
  failure: ["failed", "bad"],
  error: ["error", "bad"],
  cancelled: ["cancelled", ""],
  skipped: ["skipped", ""],
};

/** How a job or a run stands. */
export function RunState({ state }: { readonly state: keyof typeof STATES }) {
  const [words, look] = STATES[state];
  return <span class={`badge ${look}`}>{words}</span>;
}

/** The look of the state that a check reports. */
export function lookOfCheck(state: CheckState): string {
  return state === "pending" ? "warn" : STATES[state][1];
}

/** Whether a job has not ended. */
export function isOpen({ state }: Pick<JobView, "state">): boolean {
  return state === "waiting" || state === "queued" || state === "running";
}

/** What began a run, with links. */
export function Cause({ run: { cause, review, branch, asked_by }, to }: {
  readonly run: Pick<RunView, "cause" | "review" | "branch" | "asked_by">;
  readonly to: ProjectAddresses;
}) {
  const link = review === null ? null : <a href={to.at(`/reviews/${review}`)}>review #{review}</a>;
  const named = <code>{branch}</code>;
  switch (cause) {
    case "review":
      return <span>{link} into {named}</span>;
    case "landing":
      return (
        <span>
          <a href={to.at("/landing")}>landing</a> of {link} on {named}
        </span>
      );
    case "push":
      return <span>push to {named} by {asked_by}</span>;
    case "cron":
      return <span>by time on {named}</span>;
    case "manual":
      return <span>started by {asked_by} on {named}</span>;
  }
}

/** Why a job does not run, ended without running, or failed; null if there is nothing to say. */
export function Why({ job: { state, waits_for, cancelling, summary, exit_code } }: {
  readonly job: JobView;
}): Child {
  if (waits_for !== null) return <>Waits for {waits_for}.</>;
  if (cancelling !== null) return <>{cancelling}: its runner ends it.</>;
  if (state === "success" || isOpen({ state }) || summary === "") return null;
  const code = exit_code === null || summary.includes(String(exit_code))
    ? ""
    : ` (exit code ${exit_code})`;
  return <>{summary}{code}</>;
}

/** How long a job took, or has taken. */
export function Took({ job: { seconds, state } }: {
  readonly job: Pick<JobView, "seconds" | "state">;
}) {
  if (seconds === null) return null;
  return <span>{state === "running" ? "for" : "took"} {lengthOf(seconds * 1000)}</span>;
}

/** The width and height of a bar, and the room of all, in units of the drawing. */
const [BAR, STEP, HEIGHT] = [3, 4, 16];

/** How long a job took beside the last ones that passed: a bar for each, its own last. */
export function Bars({ seconds, last }: {
  readonly seconds: number;
  /** The newest first. */
  readonly last: readonly number[];
}) {
  if (last.length === 0) return null;
  const bars = [...last.toReversed(), seconds];
  const most = Math.max(...bars, 0.001);
  const [least, longest] = [Math.min(...last), Math.max(...last)].map((one) =>
    lengthOf(one * 1000)
  );
  const words = `The last ${last.length === 1 ? "one" : last.length} that passed took ` +
    (least === longest ? least : `${least} to ${longest}`);
  const width = bars.length * STEP;
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width * 1.5}
      height={HEIGHT}
      preserveAspectRatio="none"
      role="img"
      aria-label={words}
    >
      <title>{words}</title>
      {bars.map((one, place) => {
        const height = Math.max(1, Math.round(one / most * HEIGHT));
        return (
          <rect
            x={place * STEP}
            y={HEIGHT - height}
            width={BAR}
            height={height}
            class={place === bars.length - 1 ? "own" : undefined}
          />
        );
      })}
    </svg>
  );
}

/** The buttons of a job: to end it, or to run it again. */
export function JobButtons({ visit, project, job, to }: {
  readonly visit: Visit;
  readonly project: Pick<OpenProject, "mayWrite">;
  readonly job: JobView;
  /** The page whose action it is, if it is another one. */
  readonly to?: string;
}) {
  if (!project.mayWrite || job.cancelling !== null) return null;
  const [action, words] = isOpen(job)
    ? ["cancel-job", "Cancel"] as const
    : ["rerun-job", "Run again"] as const;
  return (
    <ButtonForm
      visit={visit}
      action={action}
      values={{ job: job.id }}
      label={
        <>
          {words}
          <span class="hidden-text">{job.check}</span>
        </>
      }
      {...(to === undefined ? {} : { to })}
    />
  );
}
