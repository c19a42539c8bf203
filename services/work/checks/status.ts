import type { Project } from "../projects/mod.ts";
import { badgeOf, type Check, type Checks } from "./checks.ts";
import type { CheckinStatus, CheckState, CheckView } from "./schemas.ts";

/** A check as the API shows it. */
export function viewOfCheck(check: Check): CheckView {
  const { number: id, checkin, context, state, description, reporter } = check;
  return {
    id,
    checkin,
    context,
    state,
    description,
    target_url: check.targetUrl,
    reporter,
    created_at: new Date(check.createdAt).toISOString(),
    updated_at: new Date(check.updatedAt).toISOString(),
  };
}

/** A check that must pass, and how it stands. */
interface Demanded {
  readonly context: string;
  readonly state: CheckState;
}

/**
 * The checks of a check-in, and what they come to.
 *
 * @param checkin its whole id
 * @param demanded those that must pass: their state counts in place of the newest report's
 */
export async function statusOf(
  checks: Pick<Checks, "list">,
  project: Pick<Project, "id">,
  checkin: string,
  demanded: readonly Demanded[] = [],
): Promise<CheckinStatus> {
  const found = await checks.list(project, checkin);
  const states = new Map([...found, ...demanded].map(({ context, state }) => [context, state]));
  const contextsIn = (...wanted: readonly CheckState[]) =>
    [...states].flatMap(([context, state]) => wanted.includes(state) ? [context] : []).sort();
  return {
    checkin,
    state: badgeOf(states.values()).message,
    failed: contextsIn("failure", "error"),
    waiting_for: contextsIn("pending"),
    checks: found.map(viewOfCheck),
  };
}
