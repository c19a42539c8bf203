/** What a diff says of a text that ends without a line end, which matters to no reader. */
const NO_LINE_END = "\\ No newline at end of file";

/** Most lines that are shown; the rest is in the API. */
const MAX_LINES = 3000;

/** Most characters of these lines. */
const MAX_SHOWN = 250_000;

/** A unified diff of one text, line by line. Screen readers hear which lines were added. */
export function PlainDiff({ diff, label }: { readonly diff: string; readonly label: string }) {
  const { shown, left } = beginningOf(diff);
  const lines = shown.split("\n").filter((line) => line !== NO_LINE_END);
  return (
    <>
      <pre class="plain-diff" tabindex={0} role="group" aria-label={label}>
        {lines.map((line, index) => <Line key={index} line={line} />)}
      </pre>
      {left > 0 && <p class="soft">{left.toLocaleString("en")} more characters</p>}
    </>
  );
}

/** The lines that are shown of a diff, and how many characters it has after them. */
function beginningOf(diff: string): { readonly shown: string; readonly left: number } {
  const whole = diff.replace(/\n$/, "");
  let end = 0;
  for (let lines = 0; lines < MAX_LINES && end < MAX_SHOWN && end < whole.length; lines++) {
    const feed = whole.indexOf("\n", end);
    end = feed < 0 ? whole.length : feed + 1;
  }
  const shown = whole.slice(0, Math.min(end, MAX_SHOWN));
  return { shown: shown.replace(/\n$/, ""), left: whole.length - shown.length };
}

function Line({ line }: { readonly line: string }) {
  if (line.startsWith("+")) return <ins>{line}</ins>;
  if (line.startsWith("-")) return <del>{line}</del>;
  return <span class={line.startsWith("@@") ? "soft" : undefined}>{line}</span>;
}
