/** A statement that had to change a row changed none. */
export class Undone extends Error {
  readonly statement: number;

  constructor(statement: number) {
    super("A statement changed no row");
    this.statement = statement;
  }
}

/** A transaction was rolled back because a unique name, id or hash is taken. */
export class Duplicate extends Error {
  override readonly name = "Duplicate";
}

/** A transaction was rolled back because a statement that had to change a row changed none. */
export class Unchanged extends Error {
  override readonly name = "Unchanged";
  /** The statement's place in the transaction, from 0. */
  readonly statement: number;

  constructor(statement: number) {
    super(`Statement ${statement} changed no row`);
    this.statement = statement;
  }
}
