/** Written by `deno task reference` from the operations of services/; do not change it. */

/** The tools that operations on the server are, with their rooms. */
export const OPERATION_TOOLS = {
  "get_my_work": { "room": "attention", "takesSlug": true },
  "list_claims": { "room": "claims" },
} as const;
