/**
 * Whether a pattern matches a whole text, like SQLite's `GLOB`: `*` matches any characters, `?`
 * exactly one, `[a-z]` one of a set and `[^a-z]` one outside of it. The time is at most
 * proportional to the product of the lengths.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = partsOf(pattern);
  const characters = [...text];
  let [part, at] = [0, 0];
  // Where to continue if the last star takes one more character.
  let [star, taken] = [-1, 0];
  while (at < characters.length) {
    const current = parts[part];
    if (current === "star") {
      [star, taken] = [part, at];
      part++;
    } else if (current?.(characters[at] ?? "") === true) {
      part++;
      at++;
    } else if (star >= 0) {
      taken++;
      [part, at] = [star + 1, taken];
    } else {
      return false;
    }
  }
  return parts.slice(part).every((rest) => rest === "star");
}

type Part = "star" | ((character: string) => boolean);

function partsOf(pattern: string): Part[] {
  const characters = [...pattern];
  const parts: Part[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index];
    if (character === "*") {
      parts.push("star");
    } else if (character === "?") {
      parts.push(() => true);
    } else {
      const end = character === "[" ? setEnd(characters, index) : -1;
      parts.push(
        end < 0 ? (other) => other === character : setOf(characters.slice(index + 1, end)),
      );
      if (end >= 0) index = end;
    }
  }
  return parts;
}

/**
 * The index of the bracket that ends a set, or -1. A bracket right at the beginning belongs to the
 * set.
 */
function setEnd(characters: readonly string[], start: number): number {
  const first = start + (characters[start + 1] === "^" ? 2 : 1);
  return characters.indexOf("]", first + 1);
}

function setOf(members: readonly string[]): Part {
  const isNegated = members[0] === "^";
  const set = isNegated ? members.slice(1) : members;
  const isMember = (character: string) => {
    for (let index = 0; index < set.length; index++) {
      const [from = "", dash, to] = set.slice(index, index + 3);
      if (dash === "-" && to !== undefined) {
        if (from <= character && character <= to) return true;
        index += 2;
      } else if (from === character) return true;
    }
    return false;
  };
  return (character) => isMember(character) !== isNegated;
}
