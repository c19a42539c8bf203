/** Lines to copy, with a button. */
export function Copyable({ text, label }: {
  readonly text: string;
  /** What is copied, for screen readers. */
  readonly label: string;
}) {
  return (
    <div class="copyable">
      <pre tabindex={0} role="group" aria-label={label}><code>{text}</code></pre>
      <button type="button" data-copy={text}>
        Copy <span class="hidden-text">{label}</span>
      </button>
    </div>
  );
}
