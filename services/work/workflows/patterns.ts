/** The patterns of branches and paths in `on:`, matched in time linear in the text. */

interface Token {
  readonly fits: (character: string) => boolean;
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
}

const ANY = () => true;
const NO_SLASH = (character: string) => character !== "/";

/** Most characters of the patterns of one filter, and of the texts that it is tried on. */
export const MAX_PATTERNS = 2000;
export const MAX_TRIED = 20_000;

/**
 * What the patterns of a filter choose: the last one that fits a text decides, and one that begins
 * with `!` takes back what those before it chose.
 */
export function chooserOf(patterns: readonly string[]): (text: string) => boolean {
  const read = patterns.map((pattern) => {
    const takesBack = pattern.startsWith("!");
    return { takesBack, tokens: tokensOf(takesBack ? pattern.slice(1) : pattern) };
  });
  return (text) => {
    let isChosen = false;
    for (const { takesBack, tokens } of read) {
      if (matches(tokens, text)) isChosen = !takesBack;
    }
    return isChosen;
  };
}

/** Whether tokens fit a whole text: all places that can be reached are followed at once. */
function matches(tokens: readonly Token[], text: string): boolean {
  let reached = new Uint8Array(tokens.length + 1);
  reached[0] = 1;
  passOptional(tokens, reached);
  for (const character of text) {
    const next = new Uint8Array(tokens.length + 1);
    for (const [place, token] of tokens.entries()) {
      if (reached[place] !== 1 || !token.fits(character)) continue;
      next[place + 1] = 1;
      if (token.isRepeated) next[place] = 1;
    }
    passOptional(tokens, next);
    reached = next;
  }
  return reached[tokens.length] === 1;
}

/** Also reaches what follows a token that needs no character. */
function passOptional(tokens: readonly Token[], reached: Uint8Array): void {
  for (const [place, { isOptional }] of tokens.entries()) {
    if (reached[place] === 1 && isOptional) reached[place + 1] = 1;
  }
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    const last = tokens.at(-1);
    if (character === "*") {
      const crosses = characters[at + 1] === "*";
      if (crosses) at++;
      tokens.push({ fits: crosses ? ANY : NO_SLASH, isOptional: true, isRepeated: true });
      // `**/` also fits no folder at all.
      if (crosses && characters[at + 1] === "/" && (at === 1 || characters[at - 2] === "/")) {
        at++;
        tokens.push({ fits: (one) => one === "/", isOptional: true, isRepeated: false });
      }
    } else if (character === "?" && last !== undefined) {
      tokens[tokens.length - 1] = { ...last, isOptional: true };
    } else if (character === "+" && last !== undefined) {
      tokens[tokens.length - 1] = { ...last, isRepeated: true };
    } else if (character === "[" && characters.indexOf("]", at) > at + 1) {
      const end = characters.indexOf("]", at);
      tokens.push(one(classOf(characters.slice(at + 1, end))));
      at = end;
    } else {
      const literal = character === "\\" ? characters[++at] ?? "\\" : character;
      tokens.push(one((other) => other === literal));
    }
  }
  return tokens;
}

function one(fits: Token["fits"]): Token {
  return { fits, isOptional: false, isRepeated: false };
}

function classOf(members: readonly string[]): Token["fits"] {
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members[at] ?? "";
    const isRange = members[at + 1] === "-" && at + 2 < members.length;
    ranges.push([from, isRange ? members[at + 2] ?? from : from]);
    if (isRange) at += 2;
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to);
}
