/** Checks: reports of CI on check-ins. README.md explains how to use them. */
export { CheckWaits } from "./check_waits.ts";
export { badgeOf, Checks, type NewestReport, renderBadge } from "./checks.ts";
export { statusOf } from "./status.ts";
