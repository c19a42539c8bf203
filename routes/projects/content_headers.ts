/** Types of files in which a browser runs nothing. */
const PASSIVE_TYPES: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["avif", "image/avif"],
  ["bmp", "image/bmp"],
  ["ico", "image/x-icon"],
  ["svg", "image/svg+xml"],
  ["mp3", "audio/mpeg"],
  ["ogg", "audio/ogg"],
  ["wav", "audio/wav"],
  ["mp4", "video/mp4"],
  ["webm", "video/webm"],
  ["pdf", "application/pdf"],
  ["zip", "application/zip"],
  ["gz", "application/gzip"],
  ["tgz", "application/gzip"],
  ["woff2", "font/woff2"],
]);

/** Types that a browser shows; all others are downloads. */
const SHOWN = /^(?:text\/plain|image|audio|video)/;

/** No file may run or load anything. */
const SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Headers of every answer with bytes that a user wrote. Its links do not tell where it is. */
export const UNTRUSTED = {
  "Content-Security-Policy": SANDBOX,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

/** The type of an untrusted file, of which a browser runs nothing. */
export function contentTypeOf(path: string, isBinary: boolean): string {
  const ending = path.slice(Math.max(path.lastIndexOf("."), path.lastIndexOf("/")) + 1)
    .toLowerCase();
  return PASSIVE_TYPES.get(ending) ??
    (isBinary ? "application/octet-stream" : "text/plain; charset=utf-8");
}

/**
 * Headers for the bytes of an untrusted file: its type by its name, text as plain text, and never a
 * type that a browser runs.
 */
export function contentHeaders(path: string, isBinary: boolean): Record<string, string> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const type = contentTypeOf(path, isBinary);
  return {
    "Content-Type": type,
    "Content-Disposition": dispositionOf(SHOWN.test(type) ? "inline" : "attachment", name),
    ...UNTRUSTED,
  };
}

/** The header `Content-Disposition` (RFC 6266), for a name with any characters. */
export function dispositionOf(disposition: "inline" | "attachment", name: string): string {
  const plain = name.replace(/[^ -~]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed())
    .replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
