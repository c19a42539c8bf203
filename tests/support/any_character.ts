import fc from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10ffff;

/**
 * Any character of Unicode, as the unit "binary" of `fc.string` gives it: the same ones for the same
 * seed. That unit makes a table of all 1.1 million characters, which takes more than a second in
 * each isolate.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: LAST - SURROGATES })
  .map(characterAt, placeOf);

function characterAt(place: number): string {
  return String.fromCodePoint(place < FIRST_SURROGATE ? place : place + SURROGATES);
}

/** @throws {Error} The value is not one character. */
function placeOf(value: unknown): number {
  const code = typeof value === "string" ? value.codePointAt(0) ?? LAST : LAST;
  const place = code < FIRST_SURROGATE ? code : code - SURROGATES;
  if (characterAt(place) !== value) throw new Error("It is not one character");
  return place;
}
