/** A statement that had to change a row changed none. */
export class Undone extends Error {
  readonly statement: number;

  constructor(statement: number) {
    super("A statement changed no row");
    this.statement = statement;
  }
}
