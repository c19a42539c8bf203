import { type Visit, withQuery } from "../../visit.ts";
import type { ReviewProps } from "./props.ts";

/** Who must act now, and on what; hidden once the review has ended. */
export function NextStep(props: ReviewProps) {
  const step = stepOf(props);
  return (
    <div
      class={`notice ${step?.look ?? ""}`.trim()}
      data-live-part="step"
      data-live-on="review landing status"
      hidden={step === null}
    >
      {step !== null && <StepText {...props} step={step} />}
    </div>
  );
}

function StepText({ visit, project: { base }, review, landing, checks, step }: ReviewProps & {
  readonly step: Step;
}) {
  const failing = checks.filter(({ state }) => state === "failure" || state === "error");
  const { round } = review;
  return (
    <p>
      <b>{step.who}</b> {step.what}
      {failing.length > 0 && (
        <>
          {" "}
          Failing checks: {failing.map(({ context }) => context).join(", ")}.
        </>
      )}
      {review.status === "pending" && round > 1 && (
        <>
          {" "}
          <a href={changesSince(visit, round - 1)}>Changes since round {round - 1}</a>
        </>
      )}
      {landing !== null && (
        <>
          {" "}
          <a href={`${base}/landing`}>Landing queue</a>
        </>
      )}
    </p>
  );
}

/** The page that compares a round with the next one. */
export function changesSince({ url }: Visit, round: number): string {
  return withQuery(url.pathname, { view: "changes", from: round, to: round + 1 });
}

interface Step {
  readonly who: string;
  readonly what: string;
  readonly look: "" | "good" | "bad";
}

/** The next step of a review; null once it has ended. */
function stepOf({ review, landing }: Pick<ReviewProps, "review" | "landing">): Step | null {
  switch (review.status) {
    case "merged":
    case "closed":
      return null;
    case "changes_requested": {
      const by = review.verdicts.filter(({ verdict }) => verdict === "changes_requested")
        .map(({ agent_id }) => agent_id);
      return {
        who: review.agent_id,
        what: `must answer the changes that ${listed(by)} requested. A new commit begins the ` +
          "next round.",
        look: "bad",
      };
    }
    case "approved":
      return landingStep(review, landing);
    case "pending":
      return pendingStep(review);
  }
}

function landingStep(
  { agent_id }: ReviewProps["review"],
  landing: ReviewProps["landing"],
): Step {
  if (landing?.status === "queued" || landing?.status === "testing") {
    const what = landing.status === "queued"
      ? `waits at place ${landing.position ?? "?"} of the landing queue.`
      : `is being tested. It still needs: ${landing.contexts.join(", ") || "nothing"}.`;
    return { who: "The landing", what, look: "" };
  }
  if (landing?.status === "returned") {
    return {
      who: agent_id,
      what: `must see why it came back from the landing queue: ${landing.reason ?? "no reason"}.`,
      look: "bad",
    };
  }
  return { who: "Approved:", what: "it can be merged or landed now.", look: "good" };
}

function pendingStep({ reviewers, verdicts, approvals, agent_id }: ReviewProps["review"]): Step {
  const given = new Set(verdicts.map((verdict) => verdict.agent_id));
  const awaited = reviewers.filter((name) => !given.has(name));
  const { any, people, required } = approvals;
  const progress = `It has ${any} of ${Math.max(1, required.any)} approvals` +
    (required.people > 0 ? `, ${people} of ${required.people} by people.` : ".");
  if (awaited.length > 0) {
    return { who: listed(awaited), what: `must review this round. ${progress}`, look: "" };
  }
  return {
    who: "Any reviewer",
    what: `but ${agent_id} can review this round. ${progress}`,
    look: "",
  };
}

function listed(names: readonly string[]): string {
  if (names.length <= 1) return names[0] ?? "a reviewer";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
