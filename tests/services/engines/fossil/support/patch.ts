/** Applies a unified diff to a text, strictly: every line must be where the diff says. */
export function patched(before: string, diff: string): string {
  const lines = linesOf(before);
  const result: string[] = [];
  let at = 0;
  let last: { mark: string; lines: string[] } | null = null;
  for (const line of linesOf(diff)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n$/.exec(line);
    if (/^(?:---|\+\+\+) /.test(line) && last === null) continue;
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      result.push(...lines.slice(at, start));
      at = start;
      last = { mark: "", lines: result };
      continue;
    }
    const [mark, text] = [line.charAt(0), line.slice(1)];
    if (mark === "\\") {
      if (last?.mark !== "-") result[result.length - 1] = result.at(-1)!.replace(/\n$/, "");
      continue;
    }
    if (mark !== "+" && lines[at]?.replace(/\n$/, "") !== text.replace(/\n$/, "")) {
      throw new Error(
        `line ${at + 1} is ${JSON.stringify(lines[at])}, not ${JSON.stringify(text)}`,
      );
    }
    if (mark !== "+") at++;
    if (mark !== "-") result.push(text);
    last = { mark, lines: result };
  }
  return [...result, ...lines.slice(at)].join("");
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
