/** Longest title, in characters. */
export const MAX_TITLE = 300;
