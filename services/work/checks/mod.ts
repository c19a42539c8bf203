/** Checks: reports of CI on check-ins. README.md explains how to use them. */
export { badgeOf, Checks, type NewestReport, renderBadge } from "./checks.ts";
