/** Paths as `git fast-export` writes them: plain, or in quotes as C strings. */
import { decodeText, encodeText } from "./text.ts";

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};

/** A path, and the rest of its line. Null if the quotes are malformed. */
export function readPath(
  text: string,
  endsAtSpace: boolean,
): { path: string; rest: string } | null {
  if (!text.startsWith('"')) {
    const end = endsAtSpace ? text.indexOf(" ") : -1;
    return end < 0
      ? { path: text, rest: "" }
      : { path: text.slice(0, end), rest: text.slice(end + 1) };
  }
  const bytes: number[] = [];
  for (let i = 1; i < text.length; i++) {
    const character = text[i]!;
    if (character === '"') {
      const rest = text.slice(i + 1);
      if (rest !== "" && !(endsAtSpace && rest.startsWith(" "))) return null;
      return { path: decodeText(Uint8Array.from(bytes)), rest: rest.slice(1) };
    }
    if (character !== "\\") {
      const point = String.fromCodePoint(text.codePointAt(i)!);
      bytes.push(...encodeText(point));
      i += point.length - 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(i + 1, i + 4))?.[0];
    if (octal !== undefined) {
      bytes.push(Number.parseInt(octal, 8));
      i += 3;
      continue;
    }
    const byte = ESCAPES[text[++i] ?? ""];
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return null;
}

const NEEDS_QUOTES = /^"|[\n\\\udc80-\udcff]/u;

/** Writes a path. Quotes a path with a space if another path follows. */
export function formatPath(path: string, isFirstOfTwo = false): string {
  if (!NEEDS_QUOTES.test(path) && !(isFirstOfTwo && path.includes(" "))) return path;
  const quoted = path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replace(
    /[\udc80-\udcff]/gu,
    (stray) => [...encodeText(stray)].map((byte) => `\\${byte.toString(8)}`).join(""),
  );
  return `"${quoted}"`;
}
