/**
 * The first index at which something holds that also holds at all later ones: a binary search.
 *
 * @param end the number after the last index; the result if it holds at none
 * @param start the first index to look at
 */
export function firstIndex(end: number, holds: (index: number) => boolean, start = 0): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
