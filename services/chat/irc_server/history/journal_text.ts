/**
 * The text of changes in the journal. A change is a line of numbers and then its texts, whose lengths
 * the line tells: a fifth of the time that JSON takes.
 */

import type { HistoryKind } from "../../../engines/irc/mod.ts";
import type { Operation } from "./changes.ts";

/** How many numbers the line of a record has; any other change has its number and a length. */
const RECORD_NUMBERS = 9;

/** The length of an account that is not there. */
const NO_ACCOUNT = -1;

/** The text of changes. A half of a surrogate pair becomes U+FFFD on its way to the disk. */
export function textOf(operations: readonly Operation[]): string {
  let text = "";
  for (const operation of operations) {
    if (operation.kind === "append") {
      text += textOfRecord(operation);
      continue;
    }
    const json = JSON.stringify(operation);
    text += `${operation.sequence} ${json.length}\n${json}`;
  }
  return text;
}

function textOfRecord({ sequence, record }: Operation & { readonly kind: "append" }): string {
  const { target: { account, name }, title, time, id, kind, confined, content } = record;
  return `${sequence} ${kind} ${confined ? 1 : 0} ${time} ${account?.length ?? NO_ACCOUNT} ` +
    `${name.length} ${title.length} ${id.length} ${content.length}\n` +
    `${account ?? ""}${name}${title}${id}${content}`;
}

/** The inverse of {@linkcode textOf}. */
export function operationsIn(text: string): Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at);
    const numbers = text.slice(at, end).split(" ").map(Number);
    at = end + 1;
    const take = (length = 0) => text.slice(at, at += Math.max(0, length));
    operations.push(
      numbers.length === RECORD_NUMBERS ? recordIn(numbers, take) : JSON.parse(take(numbers[1])),
    );
  }
  return operations;
}

function recordIn(numbers: readonly number[], take: (length?: number) => string): Operation {
  const [sequence = 0, kind, confined, time = 0, accountLength, ...lengths] = numbers;
  const account = take(accountLength);
  const [name = "", title = "", id = "", content = ""] = lengths.map(take);
  return {
    kind: "append",
    sequence,
    record: {
      target: { account: accountLength === NO_ACCOUNT ? null : account, name },
      title,
      time,
      id,
      kind: kind as HistoryKind,
      confined: confined === 1,
      content,
    },
  };
}
