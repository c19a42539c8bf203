import texts from "../licenses.txt" with { type: "text" };
import type { Leaf } from "./command_line/mod.ts";
import { print } from "./output.ts";

/** `muster licenses`: what is embedded, and under which license each part is. */
export const LICENSES: Leaf = {
  options: [
    { flags: "--list", summary: "print names and licenses alone, without the texts" },
  ],
  examples: [{ line: "licenses --list", purpose: "See what muster embeds" }],
  run: ({ list }: { readonly list?: boolean }) => {
    const end = list === true ? texts.indexOf("\n\n") : texts.length;
    print(texts.slice(0, end).trimEnd());
  },
};
