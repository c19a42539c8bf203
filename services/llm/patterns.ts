/**
 * Whether a text is of a pattern, in which `*` stands for any characters and `?` for one. Every
 * other character stands for itself. It takes at most length times length steps, whatever the
 * pattern.
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

/** Whether a model is let through: not blocked, and allowed where anything is listed as allowed. */
export function isAllowed(
  model: string,
  { allow, block }: { readonly allow: readonly string[]; readonly block: readonly string[] },
): boolean {
  const matches = (pattern: string) => matchesPattern(pattern, model);
  return !block.some(matches) && (allow.length === 0 || allow.some(matches));
}
