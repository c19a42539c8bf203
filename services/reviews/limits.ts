/** Longest title, in characters. */
export const MAX_TITLE = 300;

/** Longest comment, in characters. */
export const MAX_BODY = 60_000;
