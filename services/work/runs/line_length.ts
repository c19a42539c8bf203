/** Longest line of a log, in characters; a runner cuts a longer one, and says so. */
export const MAX_LINE = 8192;
