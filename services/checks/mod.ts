/** Checks: reports of CI on check-ins. README.md explains how to use them. */
export { badgeOf, renderBadge } from "./badge.ts";
export { type Check, Checks, type NewestReport, viewOfCheck } from "./checks.ts";
export type { CheckState, Report } from "./schemas.ts";
