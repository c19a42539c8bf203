/** Names statements, so that PostgreSQL keeps them prepared. */
export class StatementNames {
  readonly #most: number;
  readonly #names = new Map<string, string>();

  /** @param most how many get a name: the first ones */
  constructor(most: number) {
    this.#most = most;
  }

  /** The name of a statement, as a field of its query; no field if it has none. */
  of(sql: string): { readonly name?: string } {
    const known = this.#names.get(sql);
    if (known !== undefined) return { name: known };
    if (this.#names.size >= this.#most) return {};
    const name = `muster_${this.#names.size}`;
    this.#names.set(sql, name);
    return { name };
  }
}
