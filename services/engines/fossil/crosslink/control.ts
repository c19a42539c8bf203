/** Control artifacts in the timeline, described in words. */
import { compareTags, type Control, type TagCard } from "../artifact/mod.ts";
import { compareUtf8, escapeHtml } from "../codec/mod.ts";
import { type LinkContext, longPrefix } from "./context.ts";
import { putEvent } from "./event.ts";

export function linkControl(ctx: LinkContext, rid: number, control: Control): void {
  const sorted = control.tags.toSorted((left, right) =>
    compareUtf8(left.target ?? "", right.target ?? "") || compareTags(left, right)
  );
  const sentences: string[] = [];
  let target: string | null = null;
  let moves = false;
  for (const tag of sorted) {
    if (tag.target !== target) {
      target = tag.target;
      moves = false;
      sentences.push(`Edit [${ctx.hashLink(target ?? "")}]:`);
    }
    if (tag.sign === "*" && tag.name === "branch") moves = true;
    const isPartOfMove = moves && tag.sign !== "+" && tag.name.startsWith("sym-");
    if (!isPartOfMove) sentences.push(describeTag(tag));
  }
  const { date, user } = control;
  putEvent(ctx, { type: "g", rid, date, user, comment: sentences.join(" ") });
}

function describeTag(tag: TagCard): string {
  const value = escapeHtml(tag.value ?? "");
  switch (tag.sign + tag.name) {
    case "*branch": {
      const checkin = longPrefix(tag.target ?? "");
      const query = `r=${encodeQuery(tag.value ?? "")}&nd&dp=${checkin}&unhide`;
      return `Move to branch [/timeline?${query} | ${value}].`;
    }
    case "*bgcolor":
      return `Change branch background color to "${value}".`;
    case "+bgcolor":
      return `Change background color to "${value}".`;
    case "+comment":
      return "Edit check-in comment.";
    case "+user":
      return `Change user to "${value}".`;
    case "+date":
      return `Timestamp ${value}.`;
    case "-bgcolor":
      return withNote("Cancel background color", value);
    case "+closed":
      return withNote('Mark "Closed"', value);
    case "-closed":
      return withNote('Remove the "Closed" mark', value);
    default:
      return describeOther(tag, value);
  }
}

/** A value of a query as Fossil writes it since 2.28; older ones leave the link broken. */
function encodeQuery(value: string): string {
  return encodeURIComponent(value)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%24", "$").replaceAll("%20", "+");
}

function withNote(sentence: string, note: string): string {
  return note === "" ? `${sentence}.` : `${sentence} with note "${note}".`;
}

function describeOther({ sign, name }: TagCard, value: string): string {
  const verb = sign === "-" ? "Cancel" : sign === "+" ? "Add" : "Add propagating";
  if (name.startsWith("sym-")) {
    return withNote(`${verb} tag "${escapeHtml(name.slice("sym-".length))}"`, value);
  }
  const sentence = `${verb} "${escapeHtml(name)}"`;
  return value === "" ? `${sentence}.` : `${sentence} with value "${value}".`;
}
