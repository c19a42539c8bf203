import { Prose } from "./prose.tsx";

/** Shows a text, which is HTML, before it is saved. */
export function Preview({ html }: { readonly html: string }) {
  return (
    <section class="card" aria-label="Preview">
      <p class="meta">Preview: nothing is saved yet</p>
      <Prose html={html} />
    </section>
  );
}
