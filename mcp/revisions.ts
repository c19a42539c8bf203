/** The revisions that a client may request with `initialize`. The first is the default. */
export const INITIALIZED_REVISIONS: readonly string[] = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
];
export const OLDEST_REVISION = "2024-11-05";
export const STATELESS_REVISION = "2026-07-28";
/** The first revision with structured results. */
export const STRUCTURED_REVISION = "2025-06-18";
