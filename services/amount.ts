/** A number with its noun: `1 branch`, `2 branches`. */
export function amount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
