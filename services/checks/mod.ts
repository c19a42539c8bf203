/** Checks: reports of CI on check-ins. README.md explains how to use them. */
export { badgeOf, renderBadge } from "./badge.ts";
export {
  type Check,
  Checks,
  type CheckState,
  type NewestReport,
  type Report,
  type StatusView,
  viewOfCheck,
} from "./checks.ts";
