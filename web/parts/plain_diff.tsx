/** What a diff says of a text that ends without a line end, which matters to no reader. */
const NO_LINE_END = "\\ No newline at end of file";

/** A unified diff of one text, line by line. Screen readers hear which lines were added. */
export function PlainDiff({ diff, label }: { readonly diff: string; readonly label: string }) {
  const lines = diff.replace(/\n$/, "").split("\n").filter((line) => line !== NO_LINE_END);
  return (
    <pre class="plain-diff" tabindex={0} role="group" aria-label={label}>
      {lines.map((line, index) => <Line key={index} line={line} />)}
    </pre>
  );
}

function Line({ line }: { readonly line: string }) {
  if (line.startsWith("+")) return <ins>{line}</ins>;
  if (line.startsWith("-")) return <del>{line}</del>;
  return <span class={line.startsWith("@@") ? "soft" : undefined}>{line}</span>;
}
