/** Who may read a project. */
export const VISIBILITIES = [
  ["private", "Private: its members"],
  ["internal", "Internal: every account of this server"],
  ["public", "Public: everybody"],
] as const;
