/**
 * Whether a text matches a pattern, in which `*` stands for any characters and `?` for one. It
 * takes at most length times length steps, whatever the pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  let star = -1;
  let starText = 0;
  while (inText < text.length) {
    const symbol = pattern[inPattern];
    if (symbol === "*") {
      star = inPattern++;
      starText = inText;
    } else if (symbol === "?" || symbol === text[inText]) {
      inPattern++;
      inText++;
    } else if (star >= 0) {
      inPattern = star + 1;
      inText = ++starText;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern++;
  return inPattern === pattern.length;
}

/** Whether a model is allowed: not blocked, and in the list of allowed models, if there is one. */
export function isAllowed(
  model: string,
  { allow, block }: { readonly allow: readonly string[]; readonly block: readonly string[] },
): boolean {
  const matches = (pattern: string) => matchesPattern(pattern, model);
  return !block.some(matches) && (allow.length === 0 || allow.some(matches));
}
