/** A text that `JSON.parse` may take for the index of an array. */
const INDEX = /"[1-9]\d{1,9}"/g;
const MANY_INDICES = 20;

/**
 * Whether JSON has many short texts of digits, such as names of files. `JSON.parse` takes a time that
 * grows with the square of their number, if they were chosen for that.
 */
export function hasManyIndices(text: string): boolean {
  const indices = text.matchAll(INDEX);
  for (let count = 0; !indices.next().done; count++) if (count === MANY_INDICES) return true;
  return false;
}
